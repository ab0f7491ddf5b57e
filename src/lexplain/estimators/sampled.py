"""Base class of estimators that sample masks."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..core.contracts import MaskDistribution


@dataclass(frozen=True)
class Sampled:
    """Base of estimators that pass `samples` masks per row in one call of the cost, with predictors trained on hard masks."""

    samples: int = 1

    @property
    def masks_per_call(self) -> int:
        """Maximum number of masks per row in one call of the cost."""
        return self.samples

    def masks(self, p: MaskDistribution, shape: tuple[int, ...]) -> Tensor:
        """Sample the masks to train a predictor on: hard ones."""
        return p.sample(shape)
