"""How long, how fast and on which device to train."""

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


def fabric_of(device: str | Fabric) -> Fabric:
    """The Fabric of "auto" (a GPU where there is one), "cpu", "cuda", "cuda:1" or "mps"; one that is given stays as it is."""
    from lightning_fabric import Fabric

    if isinstance(device, Fabric):
        return device
    kind, index = _named(device)
    return Fabric(accelerator=kind, devices=1 if index is None else [index])


def device_of(device: str | Fabric) -> torch.device:
    """The device of such a word, or of a Fabric; a word is read without loading Lightning."""
    if not isinstance(device, str):
        return fabric_of(device).device
    kind, index = _named(device)
    return torch.device(kind) if kind == "cpu" else torch.device(kind, index or 0)


def _named(device: object) -> tuple[str, int | None]:
    """The kind of device that a word names, and which of them."""
    name = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else str(device)
    kind, _, index = name.partition(":")
    check.one_of(kind, ["cpu", "cuda", "mps"], "device")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}[kind]
    if there == 0 or (index and not (index.isdecimal() and int(index) < there)):
        asked = f"{kind}:{index}" if index else kind
        raise ValueError(f"device={asked!r}, but torch sees {there} {kind.upper()} device(s) here; use device='auto' or 'cpu'")
    return kind, int(index) if index and kind != "cpu" else None
