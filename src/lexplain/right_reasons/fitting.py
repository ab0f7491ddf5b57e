"""The fit: split the rows, find the strength, train, and measure how much marked inputs are still used."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import nn

from .. import check
from ..core import Batch, Outputs, target_values
from ..core.splits import share
from ..methods import Phase, Step
from ..models.queried import network_output
from ..networks import mlp
from ..training import Checkpoint, Settings, fit
from .learner import Learner
from .penalty import PenaltySettings

if TYPE_CHECKING:
    from lightning_fabric import Fabric

HIDDEN = (50, 30)  # units of the layers of the default network, as in the paper
BATCH_SIZE = 256  # default rows per optimiser step
PROBE_STEPS = 1000  # maximum steps to find a strength; at the start of training gradients are too small to measure


@dataclass(frozen=True)
class Result:
    """Result of a training."""

    network: nn.Module
    history: pd.DataFrame  # one row per epoch
    strength: float  # final value
    still_used: float  # share of held-out predictions that change with marked inputs


def default_network(shape: tuple[int, ...], outputs: Outputs) -> nn.Module:
    """A new dense network for rows of a shape."""
    return mlp(shape, outputs.count, sees_mask=False, hidden=HIDDEN, activation=nn.ReLU)


def train(
    network: nn.Module,
    rows: Batch,
    outputs: Outputs,
    settings: Settings,
    *,
    variant: PenaltySettings,
    strength: float | None,
    held_out: float,
    always: Batch | None = None,
    fabric: Fabric,
    checkpoint: Checkpoint | None = None,
) -> Result:
    """Train a network in place. The caller sets torch's seed.

    Args:
        network: Network with its initial weights.
        rows: Training rows with their marks.
        outputs: Type of the predictions.
        settings: Training length, learning rate and memory limit.
        variant: Settings of the penalty.
        strength: Weight of the penalty. None: it is found from the training rows.
        held_out: Share of the rows that selects the best epoch. 0: the last epoch is kept.
        always: Rows to put into each batch.
        fabric: Device and precision.
        checkpoint: File for the training state; an interrupted fit resumes from it.
    """
    network = network.to(fabric.device).requires_grad_(True)
    with torch.no_grad():
        sample = rows.take(slice(0, 4)).to(fabric.device)
        network_output(network.eval()(sample.x), len(sample), outputs.count, outputs.real)
    if held_out:
        check.enough_rows(len(rows))
    learn, held = share(rows, held_out) if held_out else (rows, rows.take(slice(0, 1)))  # without held-out rows, a training row
    marked = learn.irrelevant is not None and strength != 0 and bool(learn.irrelevant.any())
    if not marked:
        learn, held = replace(learn, irrelevant=None), replace(held, irrelevant=None)
    learner = Learner(network, variant, strength, None if always is None else always.to(fabric.device))
    if marked and strength is None:
        learner.find_strength(learn.to(fabric.device), rate=settings.learning_rate, steps=PROBE_STEPS, batch=settings.batch_size)
    step = Step("network", learner, learner.loss, learner.validation_loss, model_rows_per_row=3 if marked else 1)
    # Without held-out rows no epoch can be the best, so the last one is kept.
    phase = Phase("right reasons" if marked else "network", (step,), burn_in=0.0 if held_out else 1.0)
    history = pd.DataFrame(fit(learner, [phase], learn, held, settings, fabric=fabric, checkpoint=checkpoint))
    network.eval().requires_grad_(False)
    still_used = learner.still_used((held if held_out else learn).to(fabric.device)) if marked else 0.0
    last = strength or 0.0 if learner.balance is None else float(learner.balance.value)
    return Result(network, history, last, still_used)


def fingerprint(network: nn.Module, rows: Batch, seed: int, settings: Mapping[str, Any]) -> str:
    """Digest of everything that determines a training, so that reading another training's checkpoint raises."""
    plain = sorted((name, repr(value)) for name, value in settings.items())
    digest = hashlib.blake2b(repr([seed, plain]).encode(), digest_size=16)
    for tensor in (rows.x, target_values(rows.target), rows.irrelevant, *network.state_dict().values()):
        digest.update(b"" if tensor is None else tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()
