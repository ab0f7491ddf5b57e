"""How much wrong reasons cost: found from the two terms themselves, and kept in proportion while training."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..core import Trial
from .penalty import Terms

MEMORY = 0.9  # of the running means
LEARNED = 0.5  # share of the cost of guessing below which the answers have begun to be learned
ENOUGH = 0.01  # slopes along marked inputs are small once their squares are this share of those along the others
STEP = 1.05  # the strength changes by no more in one step
MOST = 10.0  # times the strength at the start: beyond one order of magnitude it would drown what the answers teach


class Balance(nn.Module):
    """Keep wrong answers and wrong reasons of one order of magnitude while training, from the training rows alone.

    It rises while marked inputs still matter, and falls while the reasons cost more than the answers, so that neither drowns the other.

    Args:
        start: the strength to begin with; `starting_strength` finds one.
    """

    value: Tensor
    means: Tensor

    def __init__(self, start: float) -> None:
        super().__init__()
        self.most = MOST * start
        self.register_buffer("value", torch.tensor(float(start)))
        self.register_buffer("means", torch.full((4,), torch.nan))  # of the four terms

    @torch.no_grad()
    def forward(self, terms: Terms) -> Tensor:
        """The strength to use in this step."""
        now = torch.stack([term.detach().float() for term in terms if term is not None])
        self.means.copy_(torch.where(self.means.isnan(), now, MEMORY * self.means + (1 - MEMORY) * now))
        cost, reason, marked, elsewhere = self.means
        share = self.value * reason
        more = torch.where((marked > ENOUGH * elsewhere) & (share < cost) & (self.value < self.most), STEP, 1.0)
        self.value.mul_(torch.where(share > cost, 1 / STEP, more))
        return self.value.clone()


def starting_strength(
    network: nn.Module, terms_of: Callable[[nn.Module, Trial], Terms], rows: Trial, *, guessing: float, rate: float, steps: int, batch: int
) -> float:
    """The strength at which the reasons of a network that has begun to learn the answers alone cost as much as guessing does.

    The two terms have to be of one order of magnitude as the network begins to learn. At the very start its slopes are tiny, whatever
    they will be, so a copy of it learns the answers until they cost half of what guessing costs.

    Args:
        network: as it will start; it is left as it is.
        terms_of: a network and a batch to its costs.
        rows: to learn from.
        guessing: what an answer costs that does not look at the row.
        rate: learning rate.
        steps: at most.
        batch: rows of a step.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, appendix A (the terms should have similar magnitudes at first).
    """
    probe = copy.deepcopy(network).train()
    optimiser = torch.optim.Adam(probe.parameters(), lr=rate)
    cost = reason = torch.nan
    for _ in range(steps):
        chosen = torch.randint(len(rows), (min(batch, len(rows)),), device=rows.x.device)
        terms = terms_of(probe, rows.take(chosen))
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(terms.answers)
        optimiser.step()
        now = float(terms.answers.detach())
        cost = now if cost != cost else MEMORY * cost + (1 - MEMORY) * now
        if terms.reasons is not None:
            told = float(terms.reasons.detach())
            reason = told if reason != reason else MEMORY * reason + (1 - MEMORY) * told
        if cost < LEARNED * guessing and reason == reason:
            break
    return guessing / reason if reason > 0 else 1.0
