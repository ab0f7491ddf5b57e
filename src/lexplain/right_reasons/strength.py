"""The weight of the gradient penalty: found from the two terms of the loss, and kept in proportion while training."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..core import Trial
from .penalty import Terms

DECAY = 0.9  # of the running means
LEARNED = 0.5  # share of the cost of guessing below which the network has begun to learn
SMALL_SLOPES = 0.01  # slopes along marked inputs are small once their squares are this share of those along the others
MAX_CHANGE = 1.05  # factor by which the strength changes in one step at the most
MAX_GROWTH = 10.0  # times the strength at the start: beyond one order of magnitude the penalty would hide what the labels teach


class Balance(nn.Module):
    """Keep the loss of the labels and the gradient penalty of one order of magnitude while training, from the training rows alone.

    The strength rises while marked inputs still matter, and falls while the penalty exceeds the loss of the labels.

    Args:
        start: the strength to begin with; `starting_strength` finds one.
    """

    value: Tensor
    means: Tensor

    def __init__(self, start: float) -> None:
        super().__init__()
        self.max_value = MAX_GROWTH * start
        self.register_buffer("value", torch.tensor(float(start)))
        self.register_buffer("means", torch.full((4,), torch.nan))  # of the four terms

    @torch.no_grad()
    def forward(self, terms: Terms) -> Tensor:
        """The strength to use in this step."""
        now = torch.stack([term.detach().float() for term in terms if term is not None])
        self.means.copy_(torch.where(self.means.isnan(), now, DECAY * self.means + (1 - DECAY) * now))
        cost, reason, marked, elsewhere = self.means
        share = self.value * reason
        more = torch.where((marked > SMALL_SLOPES * elsewhere) & (share < cost) & (self.value < self.max_value), MAX_CHANGE, 1.0)
        self.value.mul_(torch.where(share > cost, 1 / MAX_CHANGE, more))
        return self.value.clone()


def starting_strength(
    network: nn.Module, terms_of: Callable[[nn.Module, Trial], Terms], rows: Trial, *, guessing: float, rate: float, steps: int, batch: int
) -> float:
    """The strength at which the penalty of a network that has begun to learn from labels alone equals the cost of guessing.

    The two terms have to be of one order of magnitude as the network begins to learn. At the very start its slopes are tiny, whatever
    they become later, so a copy of the network learns from labels until its loss is half of what guessing costs.

    Args:
        network: with the weights to start from; it is not changed.
        terms_of: maps a network and a batch to the terms of the loss.
        rows: to learn from.
        guessing: the loss of the best prediction that ignores the row.
        rate: learning rate.
        steps: at most.
        batch: rows of a step.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, appendix A (the terms should have similar magnitudes at first).
    """
    probe = copy.deepcopy(network).train()
    optimiser = torch.optim.Adam(probe.parameters(), lr=rate)
    cost = reason = torch.nan
    # A loop of its own: it needs both terms of every step and stops in the middle of an epoch, while `training.fit` judges whole epochs.
    for _ in range(steps):
        chosen = torch.randint(len(rows), (min(batch, len(rows)),), device=rows.x.device)
        terms = terms_of(probe, rows.take(chosen))
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(terms.answers)
        optimiser.step()
        now = float(terms.answers.detach())
        cost = now if cost != cost else DECAY * cost + (1 - DECAY) * now
        if terms.reasons is not None:
            penalty = float(terms.reasons.detach())
            reason = penalty if reason != reason else DECAY * reason + (1 - DECAY) * penalty
        if cost < LEARNED * guessing and reason == reason:
            break
    return guessing / reason if reason > 0 else 1.0
