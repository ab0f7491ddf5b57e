"""What the training loop is told to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from ...core import Trial


@dataclass(frozen=True)
class Step:
    """One module's turn in an iteration: only its parameters move."""

    name: str
    module: nn.Module
    loss: Callable[[Trial], Tensor]  # a batch to the scalar to descend
    check: Callable[[Trial], Tensor]  # a batch to the scalar to judge by, which need not carry gradients
    copies: int = 1  # model rows in flight for each row of the batch
    speed: float = 1.0  # multiplies the learning rate
    decay: float | None = None  # weight decay of this step; None: that of the settings


@dataclass(frozen=True)
class Phase:
    """Steps that take turns for a share of the epochs; the last step's check says which epoch was best, and when to stop."""

    name: str
    steps: tuple[Step, ...]
    share: float = 1.0
    burn_in: float = 0.0  # share of the phase in which prices still rise, so that no epoch counts as the best
    most_rows: int | None = None  # rows that the phase learns from, drawn anew as it starts; None: all
    before: Callable[[Trial, int], None] | None = None  # done once as the phase starts, given the validation rows and rows in flight
    prepare: Callable[[Trial, int], Tensor] | None = None  # rows, and how many model rows may be in flight, to the goals of the phase
