"""Mirrored pairs of masks."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.contracts import Cost, HasAntithetic
from .sampled import Sampled


@dataclass(frozen=True)
class Disarm(Sampled):
    """Compare two masks with mirrored noise; features that are equal in both get no gradient. Unbiased, low variance, only for `Bernoulli`.

    Reference:
        Dong, Mnih and Tucker, DisARM: An Antithetic Gradient Estimator for Binary Latent Variables, 2020, equation 6.
    """

    needs = "antithetic"
    needs_gradient = False

    def __call__(self, p: HasAntithetic, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return a scalar whose gradient trains the selector; the mirrored mask is the baseline."""
        one, two, weight = p.antithetic((self.samples, group))
        with torch.no_grad():
            first, second = torch.split(cost(torch.cat([one, two])), self.samples)
            half = (first - second) / 2  # (M, b)
        loss: Tensor = (half[:, None, :, None] * weight * p.logits).sum((1, 3)).mean()
        return loss

    @property
    def masks_per_call(self) -> int:
        """Maximum number of masks per row in one call of the cost."""
        return 2 * self.samples
