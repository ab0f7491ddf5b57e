"""The score function."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.contracts import Cost, HasDraw
from .sampled import Sampled


@dataclass(frozen=True)
class Reinforce(Sampled):
    """Weigh the score of each mask by how much cheaper than expected it was. Unbiased, needs no relaxation.

    What is expected: the baseline if one is passed (INVASE's network), and the mean of the other samples if there are several.

    Reference:
        Williams, Simple Statistical Gradient-Following Algorithms, 1992; Kool et al., Buy 4 REINFORCE Samples, 2019.
    """

    samples: int = 4
    needs = "draw"
    needs_gradient = False

    def __call__(self, p: HasDraw, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return a scalar whose gradient trains the selector.

        Args:
            p: mask distribution.
            cost: masks (M, L, b, d) to costs (M, b).
            baseline: (b,) a guess of the cost that knows nothing of the mask.
            group: how many masks L the cost joins.
        """
        masks, log_prob = p.draw((self.samples, group))
        with torch.no_grad():
            costs = cost(masks)  # (M, b)
            signal = costs if baseline is None else costs - baseline
            if self.samples > 1:
                signal = signal - (signal.sum(0) - signal) / (self.samples - 1)
        loss: Tensor = (signal * log_prob.sum(1)).mean()
        return loss
