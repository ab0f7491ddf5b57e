"""How long and how fast to train."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi


def cosine(progress: float) -> float:
    """Learning rate multiplier: full at the start, nothing at the end."""
    return (1 + cos(pi * progress)) / 2


def constant(progress: float) -> float:  # noqa: ARG001  a schedule's signature
    """Learning rate multiplier: always full."""
    return 1.0


@dataclass(frozen=True)
class Settings:
    """How long and how fast to train.

    Args:
        epochs: passes over the rows, all phases together.
        batch_size: rows of an optimiser step.
        learning_rate: of Adam.
        weight_decay: of every step that has none of its own, decoupled from the gradient (AdamW).
        schedule: share of a phase done to a multiplier of the learning rate.
        warmup_steps: optimiser steps at the start of a phase, a tenth of it at the most, over which the learning rate rises to its
            height. Adam's first steps are as long as any, whatever the gradient: of a dense layer behind a large image they can silence
            all units.
        patience: epochs without a better check before a phase stops; None: never.
        max_rows: most model rows in flight.
        seed: of the order of rows and of every draw.
    """

    epochs: int = 300
    batch_size: int = 1000
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    schedule: Callable[[float], float] = cosine
    warmup_steps: int = 0
    patience: int | None = None
    max_rows: int = 1_000_000
    seed: int = 0
