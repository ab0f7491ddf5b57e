"""Hard masks forward, relaxed ones backward."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..core.contracts import Cost, Pairs


@dataclass(frozen=True)
class StraightThrough:
    """Take the cost of a hard mask and the gradient of its relaxation. Biased, and fast.

    Reference:
        Bengio et al., Estimating or Propagating Gradients Through Stochastic Neurons, 2013.
    """

    samples: int = 1
    needs = "paired"
    needs_gradient = True
    is_cost = True  # the scalar is the cost of the masks drawn, whose gradient teaches a predictor too

    def __call__(self, p: Pairs, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return a scalar whose gradient trains the selector; a baseline has no use here."""
        hard, soft = p.paired((self.samples, group))
        return cost(hard + (soft - soft.detach())).mean()

    @property
    def masks_a_call(self) -> int:
        """How many masks of a row one call of the cost holds at the most."""
        return self.samples

    def masks(self, p: Pairs, shape: tuple[int, ...]) -> Tensor:
        """The kind of masks a predictor must learn to read: hard ones."""
        hard: Tensor = p.sample(shape)
        return hard
