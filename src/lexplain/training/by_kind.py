"""How fast each kind of features is learned from. A kind of your own joins with a line here."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from .. import check
from ..core.contracts import Features

MAX_ROWS = 100_000  # model rows in flight unless told


@dataclass(frozen=True)
class Pace:
    """How many rows networks of a kind learn from at a time, and hold in memory."""

    batch_size: int = 1000  # of an optimiser step at the most
    warmup_steps: int = 0  # optimiser steps over which the learning rate rises
    max_numbers: int | None = None  # encoded numbers in flight: layers of convolutions hold many for each pixel; None: any


PACES: dict[str, Pace] = {"columns": Pace(), "patches": Pace(batch_size=256, warmup_steps=100, max_numbers=2**23)}


def pace_of(features: Features) -> Pace:
    """The pace of a kind of features."""
    return check.for_kind(PACES, features.kind, "training pace", "lexplain.training.by_kind.PACES")


def default_max_rows(features: Features) -> int:
    """Most model rows in flight unless told."""
    numbers = pace_of(features).max_numbers
    return MAX_ROWS if numbers is None else max(1, min(MAX_ROWS, numbers // prod(features.shape)))
