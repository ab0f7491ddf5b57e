"""What estimators that draw masks share."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..core.contracts import MaskDistribution


@dataclass(frozen=True)
class Sampled:
    """Draws so many masks a row, of which one call of the cost holds all; predictors learn to read hard ones."""

    samples: int = 1

    @property
    def masks_per_call(self) -> int:
        """How many masks of a row one call of the cost holds at the most."""
        return self.samples

    def masks(self, p: MaskDistribution, shape: tuple[int, ...]) -> Tensor:
        """The kind of masks a predictor must learn to read: hard ones."""
        return p.sample(shape)
