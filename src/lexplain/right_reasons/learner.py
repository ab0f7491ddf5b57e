"""A network with its loss, the gradient penalty and its strength, and the validation loss."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.distributions import Normal

from ..core import Batch, concat_batches, target_values
from .penalty import PenaltySettings, Terms, label_loss, loss_terms

MIN_MARKED_ROWS = 20  # minimum number of annotated rows to select an epoch on
DECAY = 0.9  # decay of the running means
LEARNED = 0.5  # share of the loss of a constant prediction; below it, the network has begun to learn
SMALL_SLOPES = 0.01  # share of the squared gradients of other inputs below which those of marked inputs are small
MAX_CHANGE = 1.05  # maximum factor by which the strength changes in one step
MAX_GROWTH = 10.0  # maximum strength relative to the start; a higher one would dominate the loss of the labels


class Learner(nn.Module):
    """A network and the strength of its penalty, so that a checkpoint holds both.

    Args:
        network: Network to train.
        variant: Settings of the penalty.
        strength: Weight of the penalty. None: no penalty, unless `find_strength` sets its weight.
        always: Rows to put into each batch.
    """

    def __init__(self, network: nn.Module, variant: PenaltySettings, strength: float | None, always: Batch | None = None) -> None:
        super().__init__()
        self.network, self.variant, self.strength, self.always = network, variant, strength, always
        self.balance: StrengthController | None = None

    def find_strength(self, rows: Batch, *, rate: float, steps: int, batch: int) -> None:
        """Find an initial strength, which `StrengthController` then adapts during training; see `starting_strength`."""
        values = target_values(rows.target)
        mean = values.mean(0, keepdim=True)
        real = isinstance(rows.target, Normal)
        guessing = float((values - mean).square().mean() / 2 if real else -torch.special.xlogy(mean, mean).sum())
        start = starting_strength(self.network, self.terms, rows, guessing=guessing, rate=rate, steps=steps, batch=batch)
        self.balance = StrengthController(start).to(rows.x.device)

    def terms(self, network: nn.Module, batch: Batch) -> Terms:
        """The loss terms of a network on a batch."""
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
        """The loss on held-out rows. Their marked inputs are swapped between rows, so that networks that use them have a higher loss.

        If enough rows have marks, only these rows are used.
        """
        if batch.irrelevant is not None:
            marked = batch.irrelevant.flatten(1).any(1)
            batch = batch.take(marked) if int(marked.sum()) >= MIN_MARKED_ROWS else batch
            batch = _swap_marked(batch)
        return label_loss(self.network(batch.x), target_values(batch.target))

    @torch.no_grad()
    def still_used(self, batch: Batch) -> float:
        """Share of the marked rows whose prediction changes with the marked inputs. For real values: share of the variance."""
        assert batch.irrelevant is not None
        batch = batch.take(batch.irrelevant.flatten(1).any(1))
        if len(batch) < 2:
            return 0.0
        own, other = self.network(batch.x), self.network(_swap_marked(batch).x)
        if isinstance(batch.target, Normal):
            return min(1.0, float((own - other).square().mean() / (2 * own.var()).clamp_min(1e-12)))
        return float((own.argmax(1) != other.argmax(1)).float().mean())


def _swap_marked(batch: Batch) -> Batch:
    """Rows with the marked inputs of other rows."""
    assert batch.irrelevant is not None
    return replace(batch, x=torch.where(batch.irrelevant, batch.x.roll(1, 0), batch.x))


# ---- the strength of the penalty ----


class StrengthController(nn.Module):
    """Keep the loss of the labels and the gradient penalty at the same order of magnitude during training.

    The strength rises while marked inputs still matter, and falls while the penalty exceeds the loss of the labels. Only training rows
    are used.

    Args:
        start: Initial strength; `starting_strength` finds one.
    """

    value: Tensor
    means: Tensor

    def __init__(self, start: float) -> None:
        super().__init__()
        self.max_value = MAX_GROWTH * start
        self.register_buffer("value", torch.tensor(float(start)))
        self.register_buffer("means", torch.full((4,), torch.nan))  # running means of the four terms

    @torch.no_grad()
    def forward(self, terms: Terms) -> Tensor:
        """The strength to use in this step."""
        current = torch.stack([term.detach().float() for term in terms if term is not None])
        self.means.copy_(torch.where(self.means.isnan(), current, DECAY * self.means + (1 - DECAY) * current))
        loss, penalty, marked, unmarked = self.means
        share = self.value * penalty
        growth = torch.where((marked > SMALL_SLOPES * unmarked) & (share < loss) & (self.value < self.max_value), MAX_CHANGE, 1.0)
        self.value.mul_(torch.where(share > loss, 1 / MAX_CHANGE, growth))
        return self.value.clone()


def starting_strength(
    network: nn.Module, terms_of: Callable[[nn.Module, Batch], Terms], rows: Batch, *, guessing: float, rate: float, steps: int, batch: int
) -> float:
    """The strength at which the penalty equals the loss of a constant prediction, once a network has begun to learn from labels.

    The two terms should have the same order of magnitude when the network begins to learn. Initially its input gradients are tiny. So a
    copy of the network is trained on the labels until its loss is half of that of a constant prediction.

    Args:
        network: Network with its initial weights; it is not changed.
        terms_of: Function from a network and a batch to the loss terms.
        rows: Training rows.
        guessing: Loss of the best prediction that ignores the row.
        rate: Learning rate.
        steps: Maximum number of steps.
        batch: Rows per step.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, appendix A (the terms should have similar magnitudes at first).
    """
    probe = copy.deepcopy(network).train()
    optimiser = torch.optim.Adam(probe.parameters(), lr=rate)
    loss = mean_penalty = torch.nan
    # Not `training.fit`: the loop needs both terms of each step, and stops in the middle of an epoch.
    for _ in range(steps):
        chosen = torch.randint(len(rows), (min(batch, len(rows)),), device=rows.x.device)
        terms = terms_of(probe, rows.take(chosen))
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(terms.prediction_loss)
        optimiser.step()
        current = float(terms.prediction_loss.detach())
        loss = current if loss != loss else DECAY * loss + (1 - DECAY) * current
        if terms.gradient_penalty is not None:
            penalty = float(terms.gradient_penalty.detach())
            mean_penalty = penalty if mean_penalty != mean_penalty else DECAY * mean_penalty + (1 - DECAY) * penalty
        if loss < LEARNED * guessing and mean_penalty == mean_penalty:
            break
    return guessing / mean_penalty if mean_penalty > 0 else 1.0
