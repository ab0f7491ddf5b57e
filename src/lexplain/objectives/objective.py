"""All that a selector is to make small."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core import Trial
from ..core.contracts import Term
from .likelihood import Likelihood


@dataclass(frozen=True)
class Objective:
    """How badly the target is predicted from what is visible, and the prices of masks.

    Args:
        likelihood: joins masks and imputations into the cost of a row.
        penalties: costs (b,) of the mask distribution, such as `Sparsity`.
        mask_costs: costs (M, b) of masks, such as `Continuity`.
    """

    likelihood: Likelihood = Likelihood()
    penalties: tuple[Term, ...] = ()
    mask_costs: tuple[Term, ...] = ()

    def cost(self, trial: Trial) -> Tensor:
        """The cost (M, b) of a trial's masks, whose predictions are known."""
        total = self.likelihood(trial)
        for term in self.mask_costs:
            total = total + term(trial)
        return total

    def penalty(self, trial: Trial) -> Tensor:
        """What a trial's mask distribution costs, averaged over rows."""
        total = torch.zeros((), device=trial.x.device)
        for term in self.penalties:
            total = total + term(trial).mean()
        return total

    @property
    def burn_in(self) -> float:
        """Share of the training in which prices still rise."""
        return max((getattr(term, "warmup", 0.0) for term in self.penalties), default=0.0)
