"""A network and its loss with the gradient penalty, the strength of that penalty, and how an epoch is judged."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.distributions import Normal

from ..core import Batch, concat_batches, target_values
from .penalty import PenaltySettings, Terms, label_loss, loss_terms

MIN_MARKED_ROWS = 20  # annotated rows that are enough to choose an epoch by
DECAY = 0.9  # of the running means
LEARNED = 0.5  # share of the cost of guessing below which the network has begun to learn
SMALL_SLOPES = 0.01  # slopes along marked inputs are small once their squares are this share of those along the others
MAX_CHANGE = 1.05  # factor by which the strength changes in one step at the most
MAX_GROWTH = 10.0  # times the strength at the start: beyond one order of magnitude the penalty would hide what the labels teach


class Learner(nn.Module):
    """A network and the strength of its penalty, so that a checkpoint holds both.

    Args:
        network: what is trained.
        variant: of the penalty.
        strength: of the penalty; None: none, unless `find_strength` finds one.
        always: rows to put in every batch.
    """

    def __init__(self, network: nn.Module, variant: PenaltySettings, strength: float | None, always: Batch | None = None) -> None:
        super().__init__()
        self.network, self.variant, self.strength, self.always = network, variant, strength, always
        self.balance: StrengthController | None = None

    def find_strength(self, rows: Batch, *, rate: float, steps: int, batch: int) -> None:
        """Find a strength to start with, which `Balance` then adapts while training; see `starting_strength`."""
        answers = target_values(rows.target)
        guess = answers.mean(0, keepdim=True)
        real = isinstance(rows.target, Normal)
        guessing = float((answers - guess).square().mean() / 2 if real else -torch.special.xlogy(guess, guess).sum())
        start = starting_strength(self.network, self.terms, rows, guessing=guessing, rate=rate, steps=steps, batch=batch)
        self.balance = StrengthController(start).to(rows.x.device)

    def terms(self, network: nn.Module, batch: Batch) -> Terms:
        """The terms of a network's loss on a batch."""
        return loss_terms(network, batch.x, target_values(batch.target), batch.irrelevant, self.variant)

    def loss(self, batch: Batch) -> Tensor:
        """The loss of a batch."""
        batch = batch if self.always is None else concat_batches(self.always, batch)
        terms = self.terms(self.network, batch)
        loss = terms.prediction_loss
        if terms.gradient_penalty is not None:
            loss = loss + (self.strength or 0.0 if self.balance is None else self.balance(terms)) * terms.gradient_penalty
        if self.variant.l2:
            loss = loss + self.variant.l2 / len(batch) * sum(weights.square().sum() for weights in self.network.parameters())
        return loss

    def validation_loss(self, batch: Batch) -> Tensor:
        """The loss on held-out rows whose marked inputs take the values of other rows, which reveals a network that uses them.

        It needs the training rows and the annotation alone. Rows without marks do not count where enough others have some.
        """
        if batch.irrelevant is not None:
            marked = batch.irrelevant.flatten(1).any(1)
            batch = batch.take(marked) if int(marked.sum()) >= MIN_MARKED_ROWS else batch
            batch = _with_marked_of_others(batch)
        return label_loss(self.network(batch.x), target_values(batch.target))

    @torch.no_grad()
    def still_used(self, batch: Batch) -> float:
        """Share of the marked rows whose prediction changes with the marked inputs; for real values, share of the variance."""
        assert batch.irrelevant is not None
        batch = batch.take(batch.irrelevant.flatten(1).any(1))
        if len(batch) < 2:
            return 0.0
        own, other = self.network(batch.x), self.network(_with_marked_of_others(batch).x)
        if isinstance(batch.target, Normal):
            return min(1.0, float((own - other).square().mean() / (2 * own.var()).clamp_min(1e-12)))
        return float((own.argmax(1) != other.argmax(1)).float().mean())


def _with_marked_of_others(batch: Batch) -> Batch:
    """Rows whose marked inputs take the values of other rows."""
    assert batch.irrelevant is not None
    return replace(batch, x=torch.where(batch.irrelevant, batch.x.roll(1, 0), batch.x))


# ---- the strength of the penalty ----


class StrengthController(nn.Module):
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
    network: nn.Module, terms_of: Callable[[nn.Module, Batch], Terms], rows: Batch, *, guessing: float, rate: float, steps: int, batch: int
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
        torch.autograd.backward(terms.prediction_loss)
        optimiser.step()
        now = float(terms.prediction_loss.detach())
        cost = now if cost != cost else DECAY * cost + (1 - DECAY) * now
        if terms.gradient_penalty is not None:
            penalty = float(terms.gradient_penalty.detach())
            reason = penalty if reason != reason else DECAY * reason + (1 - DECAY) * penalty
        if cost < LEARNED * guessing and reason == reason:
            break
    return guessing / reason if reason > 0 else 1.0
