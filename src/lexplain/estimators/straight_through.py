"""Hard masks forward, relaxed ones backward."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..core.contracts import Cost, HasPaired
from .sampled import Sampled


@dataclass(frozen=True)
class StraightThrough(Sampled):
    """Take the cost of a hard mask and the gradient of its relaxation. Biased, and fast.

    Reference:
        Bengio et al., Estimating or Propagating Gradients Through Stochastic Neurons, 2013.
    """

    needs = "paired"
    needs_gradient = True
    returns_cost = True  # the scalar is the cost of the sampled masks, so that its gradient also trains a predictor

    def __call__(self, p: HasPaired, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return a scalar whose gradient trains the selector; the baseline is not used."""
        hard, soft = p.paired((self.samples, group))
        return cost(hard + (soft - soft.detach())).mean()
