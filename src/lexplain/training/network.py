"""Training of single networks: evaluators, mask readers, retrained models, baselines and the networks of comparisons."""

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
Loss = Callable[[Batch], Tensor]  # from rows to the mean loss


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
    """Train one part of a module, restore its best epoch on the validation rows, and freeze the module.

    Args:
        module: Module that contains the trained part.
        step: The trained part and its loss.
        parts: Training rows, and validation rows that select the best epoch.
        steps: Approximate number of optimiser steps.
        learning_rate: Learning rate of Adam.
        warmup_steps: Optimiser steps over which the learning rate rises; see `core.kinds.Pace`.
        patient: Whether to train to the end. Otherwise training stops when a quarter of the epochs brings no improvement.
        max_rows: Maximum number of rows sent to the network at once. None: as in `Settings`.
        fabric: Device and precision. None: the CPU.
        seed: Seed of the random numbers.
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
