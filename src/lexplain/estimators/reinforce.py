"""The score function."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.contracts import Cost, HasDraw
from .sampled import Sampled


@dataclass(frozen=True)
class Reinforce(Sampled):
    """Weight the score function of each mask by its cost minus the expected cost. Unbiased, needs no relaxation.

    The expected cost is the baseline if one is passed (INVASE's network), and the mean of the other samples if there are several.

    Reference:
        Williams, Simple Statistical Gradient-Following Algorithms, 1992; Kool et al., Buy 4 REINFORCE Samples, 2019.
    """

    samples: int = 4
    needs = "draw"
    needs_gradient = False

    def __call__(self, p: HasDraw, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return a scalar whose gradient trains the selector.

        Args:
            p: Mask distribution.
            cost: Function from masks (M, L, b, d) to costs (M, b).
            baseline: (b,) prediction of the cost that does not depend on the mask.
            group: Number of masks L that the cost joins.
        """
        masks, log_prob = p.draw((self.samples, group))
        with torch.no_grad():
            costs = cost(masks)  # (M, b)
            signal = costs if baseline is None else costs - baseline
            if self.samples > 1:
                signal = signal - (signal.sum(0) - signal) / (self.samples - 1)
        loss: Tensor = (signal * log_prob.sum(1)).mean()
        return loss
