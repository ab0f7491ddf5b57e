"""Gradients through relaxed masks."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..core.contracts import Cost, HasRelaxed


@dataclass(frozen=True)
class Pathwise:
    """Differentiate the cost of a soft mask. Low variance, biased for hard masks."""

    samples: int = 1
    needs = "relaxed"
    needs_gradient = True
    returns_cost = True  # the scalar is the cost of the sampled masks, so that its gradient also trains a predictor

    def __call__(self, p: HasRelaxed, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return a scalar whose gradient trains the selector; the baseline is not used."""
        return cost(p.relaxed((self.samples, group))).mean()

    @property
    def masks_per_call(self) -> int:
        """Maximum number of masks per row in one call of the cost."""
        return self.samples

    def masks(self, p: HasRelaxed, shape: tuple[int, ...]) -> Tensor:
        """Sample the masks to train a predictor on: soft ones."""
        relaxed: Tensor = p.relaxed(shape)
        return relaxed.detach()
