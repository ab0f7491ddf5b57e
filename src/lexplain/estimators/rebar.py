"""The score function with a relaxed control variate."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.contracts import Cost, HasCoupled
from .sampled import Sampled


@dataclass(frozen=True)
class Rebar(Sampled):
    """Subtract the cost of a relaxed mask, sampled given the hard one, from the score function, and add its gradient back.

    Unbiased if the cost is a smooth function of the soft mask. It is not with imputers that choose a component by the mask; these raise.

    Args:
        samples: Masks per row.
        strength: Weight of the control variate (eta); the mean is the same for any value.

    Reference:
        Tucker et al., REBAR, 2017, equation 7; Jethani et al., Have We Learned to Explain?, 2021, appendix, equations 8 to 11.
        For subsets of fixed size: Gadetsky et al., Low-Variance Black-Box Gradient Estimates for the Plackett-Luce Distribution, 2020.
    """

    strength: float = 1.0
    needs = "coupled"
    needs_gradient = True
    needs_smooth = True

    def __call__(self, p: HasCoupled, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return a scalar whose gradient trains the selector; the relaxed masks are the baseline."""
        draw = p.coupled((self.samples, group))
        with torch.no_grad():
            hard = cost(draw.hard)
        # One call for both relaxations: small networks are bound by calls, not by arithmetic.
        soft, soft_given_hard = torch.split(cost(torch.cat([draw.soft, draw.soft_given_hard])), self.samples)
        signal = (hard - self.strength * soft_given_hard).detach()
        loss: Tensor = (signal * draw.log_prob.sum(1) + self.strength * (soft - soft_given_hard)).mean()
        return loss

    @property
    def masks_per_call(self) -> int:
        """Maximum number of masks per row in one call of the cost."""
        return 2 * self.samples
