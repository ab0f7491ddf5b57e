"""Training settings, learning-rate schedules and devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi
from typing import TYPE_CHECKING

import torch

from .. import check

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def cosine(progress: float) -> float:
    """Multiplier of the learning rate that falls from 1 at the start to 0 at the end."""
    return (1 + cos(pi * progress)) / 2


def constant(progress: float) -> float:  # noqa: ARG001  a schedule's signature
    """Multiplier of the learning rate that is always 1."""
    return 1.0


@dataclass(frozen=True)
class Settings:
    """Training length, learning rate and memory limit.

    Args:
        epochs: Passes over the rows, in all phases together.
        batch_size: Rows per optimiser step.
        learning_rate: Learning rate of Adam.
        weight_decay: Weight decay of steps that do not set their own, decoupled from the gradient (AdamW).
        schedule: Function from the finished share of a phase to a multiplier of the learning rate.
        warmup_steps: Optimiser steps at the start of a phase over which the learning rate rises, at most a tenth of the phase. Adam's
            first steps are as long as later ones, even if gradients are small: in a dense layer after a large image they can set all
            units to 0.
        patience: Epochs without improvement before a phase stops. None: never.
        max_rows: Maximum number of rows sent to a network at once.
        seed: Seed of the order of rows and of all other random numbers.
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


def fabric_of(device: str | Fabric) -> Fabric:
    """The Fabric for "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1" or "mps". A Fabric is returned unchanged."""
    from lightning_fabric import Fabric

    if isinstance(device, Fabric):
        return device
    kind, index = _parse(device)
    return Fabric(accelerator=kind, devices=1 if index is None else [index])


def device_of(device: str | Fabric) -> torch.device:
    """The device for a name or a Fabric. For a name, Lightning is not imported."""
    if not isinstance(device, str):
        return fabric_of(device).device
    kind, index = _parse(device)
    return torch.device(kind) if kind == "cpu" else torch.device(kind, index or 0)


def _parse(device: object) -> tuple[str, int | None]:
    """Type and index of the device with a name."""
    name = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else str(device)
    kind, _, index = name.partition(":")
    check.one_of(kind, ["cpu", "cuda", "mps"], "device")
    available = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}[kind]
    if available == 0 or (index and not (index.isdecimal() and int(index) < available)):
        requested = f"{kind}:{index}" if index else kind
        raise ValueError(f"device={requested!r}, but torch sees {available} {kind.upper()} device(s). Use device='auto' or 'cpu'.")
    return kind, int(index) if index and kind != "cpu" else None
