"""How baselines with a network of their own learn it."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import torch
from torch import Tensor, nn

from ..core import Trial
from ..methods import Phase, Step
from . import Settings, fit, rise_for


def split(rows: Trial, seed: int) -> tuple[Trial, Trial]:
    """Rows to learn from, and a tenth to choose the best epoch on."""
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))
    held = max(5, ceil(len(rows) / 10))
    return rows.take(order[held:]), rows.take(order[:held])


def learn(
    network: nn.Module,
    loss: Callable[[Trial], Tensor],
    check: Callable[[Trial], Tensor],
    parts: tuple[Trial, Trial],
    *,
    settings: tuple[int, int, int],
    copies: int = 1,
) -> None:
    """Train a network with the one loop, and leave it at rest at its best epoch.

    Args:
        network: what learns.
        loss: a batch to the scalar to descend.
        check: a batch to the scalar to judge by.
        parts: rows to learn from, and rows to judge by.
        settings: optimiser steps, most rows in flight, seed.
        copies: rows in flight for each row of the batch.
    """
    steps, max_rows, seed = settings
    train, validation = parts
    batch = min(256, max(32, len(train) // 10))
    epochs = max(1, round(steps / ceil(len(train) / batch)))
    phase = Phase("baseline", (Step("network", network, loss, check, copies=copies),))
    told = Settings(epochs=epochs, batch_size=batch, rise=rise_for(train.x.shape[1:]), max_rows=max_rows, seed=seed)
    fit(network, [phase], train, validation, told)
    network.eval().requires_grad_(False)
