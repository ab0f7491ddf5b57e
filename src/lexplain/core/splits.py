"""Splits of rows for training, validation and test.

`tenth` and `halves` use their own generators, `share` and `Splits.of` torch's random state, `first_tenth` no random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor

from .batch import Batch


def tenth_at(rows: Batch, seed: int) -> tuple[Tensor, Tensor]:
    """Indices of a random nine tenths of the rows and of the other tenth."""
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed)).to(rows.x.device)
    held = max(5, len(rows) // 10)
    return order[held:], order[:held]


def tenth(rows: Batch, seed: int) -> tuple[Batch, Batch]:
    """A random nine tenths of the rows and the other tenth."""
    learn, held = tenth_at(rows, seed)
    return rows.take(learn), rows.take(held)


def first_tenth(rows: Batch, *, least: int = 0) -> tuple[Batch, Batch]:
    """The last nine tenths of the rows, and the first tenth or at least `least` rows."""
    held = max(least, len(rows) // 10)
    return rows.take(slice(held, None)), rows.take(slice(0, held))


def halves(rows: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """Indices of two random halves of `rows` rows; the first is the larger one."""
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
    half = ceil(rows / 2)
    return order[:half], order[half:]


def share(rows: Batch, held_out: float) -> tuple[Batch, Batch]:
    """The rows without a share of them (at least five rows), and that share."""
    order, held = torch.randperm(len(rows)), max(5, ceil(held_out * len(rows)))
    return rows.take(order[held:]), rows.take(order[:held])


@dataclass(frozen=True)
class Splits:
    """The rows of one fit."""

    train: Batch  # for training
    validation: Batch  # for the choice of epoch, price and rate
    test: Batch  # not used in the fit
    seed: int  # of the fit

    @classmethod
    def of(cls, rows: Batch, seed: int) -> Splits:
        """Split rows at random: a tenth for validation, or up to 200 rows if there are few, and a twentieth for test."""
        order = torch.randperm(len(rows))
        held, tested = max(5, ceil(len(order) / 10), min(200, len(order) // 5)), max(5, ceil(len(order) / 20))
        parts = order[held + tested :], order[:held], order[held : held + tested]
        train, validation, rest = (rows.take(part) for part in parts)
        return cls(train, validation, rest, seed)
