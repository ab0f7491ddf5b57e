"""What the training loop is given: a network, its loss with the gradient penalty, and how an epoch is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.distributions import Normal

from ..core import Trial, joined, target_values
from .penalty import Terms, label_loss, two_terms
from .strength import Balance, starting_strength

MIN_MARKED_ROWS = 20  # annotated rows that are enough to choose an epoch by


@dataclass(frozen=True)
class Variant:
    """Which slopes are penalised and what is summed; see `right_reasons_loss`."""

    scale: str = "log"
    target: str | int = "sum"
    normalise: bool = True
    l2: float = 0.0  # price of squared weights, divided by the rows of a batch


class Learner(nn.Module):
    """A network and the strength of its penalty, so that a checkpoint holds both.

    Args:
        network: what is trained.
        variant: of the penalty.
        strength: of the penalty; None: none, unless `find_strength` finds one.
        always: rows to put in every batch.
    """

    def __init__(self, network: nn.Module, variant: Variant, strength: float | None, always: Trial | None = None) -> None:
        super().__init__()
        self.network, self.variant, self.strength, self.always = network, variant, strength, always
        self.balance: Balance | None = None

    @property
    def last_strength(self) -> float:
        """The strength that the training ended with."""
        return float(self.balance.value) if self.balance is not None else self.strength or 0.0

    def find_strength(self, rows: Trial, *, rate: float, steps: int, batch: int) -> None:
        """Find a strength to start with, which `Balance` then adapts while training; see `starting_strength`."""
        answers = target_values(rows.target)
        guess = answers.mean(0, keepdim=True)
        real = isinstance(rows.target, Normal)
        guessing = float((answers - guess).square().mean() / 2 if real else -torch.special.xlogy(guess, guess).sum())
        start = starting_strength(self.network, self.terms, rows, guessing=guessing, rate=rate, steps=steps, batch=batch)
        self.balance = Balance(start).to(rows.x.device)

    def terms(self, network: nn.Module, trial: Trial) -> Terms:
        """The terms of a network's loss on a batch."""
        y, how = target_values(trial.target), self.variant
        return two_terms(network, trial.x, y, trial.irrelevant, scale=how.scale, target=how.target, normalise=how.normalise)

    def loss(self, trial: Trial) -> Tensor:
        """The loss of a batch."""
        trial = trial if self.always is None else joined(self.always, trial)
        terms = self.terms(self.network, trial)
        loss = terms.answers
        if terms.reasons is not None:
            loss = loss + (self.strength or 0.0 if self.balance is None else self.balance(terms)) * terms.reasons
        if self.variant.l2:
            loss = loss + self.variant.l2 / len(trial) * sum(weights.square().sum() for weights in self.network.parameters())
        return loss

    def judge(self, trial: Trial) -> Tensor:
        """The loss on held-out rows whose marked inputs take the values of other rows, which reveals a network that uses them.

        It needs the training rows and the annotation alone. Rows without marks do not count where enough others have some.
        """
        if trial.irrelevant is not None:
            marked = trial.irrelevant.flatten(1).any(1)
            trial = trial.take(marked) if int(marked.sum()) >= MIN_MARKED_ROWS else trial
            trial = _with_marked_of_others(trial)
        return label_loss(self.network(trial.x), target_values(trial.target))

    @torch.no_grad()
    def still_used(self, trial: Trial) -> float:
        """Share of the marked rows whose prediction changes with the marked inputs; for real values, share of the variance."""
        assert trial.irrelevant is not None
        trial = trial.take(trial.irrelevant.flatten(1).any(1))
        if len(trial) < 2:
            return 0.0
        own, other = self.network(trial.x), self.network(_with_marked_of_others(trial).x)
        if isinstance(trial.target, Normal):
            return min(1.0, float((own - other).square().mean() / (2 * own.var()).clamp_min(1e-12)))
        return float((own.argmax(1) != other.argmax(1)).float().mean())


def _with_marked_of_others(trial: Trial) -> Trial:
    """Rows whose marked inputs take the values of other rows."""
    assert trial.irrelevant is not None
    return replace(trial, x=torch.where(trial.irrelevant, trial.x.roll(1, 0), trial.x))
