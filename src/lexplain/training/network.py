"""One trainer of plain networks: judges, readers, retrained models, baselines and the networks of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from torch import Tensor, nn

from ..core import Batch
from ..methods import Phase, Step
from .fit import fit
from .settings import Settings

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Network = TypeVar("Network", bound=nn.Module)
Loss = Callable[[Batch], Tensor]  # rows to a mean over them


def train_network(
    module: Network,
    step: Step,
    parts: tuple[Batch, Batch],
    *,
    steps: int,
    learning_rate: float = 1e-3,
    warmup_steps: int = 0,
    patient: bool = False,
    max_rows: int | None = None,
    fabric: Fabric | None = None,
    seed: int = 0,
) -> Network:
    """Train one part of a module, and leave the module at rest at its best epoch on the validation rows.

    Args:
        module: holds what learns.
        step: what learns and by which loss.
        parts: rows to learn from, and rows to choose the best epoch by.
        steps: of the optimiser, about.
        learning_rate: of Adam.
        warmup_steps: optimiser steps over which it rises; see `core.kinds.Pace`.
        patient: go on to the end; otherwise training stops once a quarter of the epochs brought nothing better.
        max_rows: most model rows in flight; None: any.
        fabric: device and precision; None: the CPU.
        seed: of every draw.
    """
    train, validation = parts
    batch = min(256, max(32, len(train) // 10))
    epochs = max(5, round(steps * batch / len(train)))
    settings = Settings(
        epochs=epochs,
        batch_size=batch,
        learning_rate=learning_rate,
        warmup_steps=warmup_steps,
        patience=None if patient else max(10, epochs // 4),
        max_rows=max_rows or Settings.max_rows,
        seed=seed,
    )
    fit(module, [Phase(step.name, (step,))], train, validation, settings, fabric=fabric)
    return module.eval().requires_grad_(False)
