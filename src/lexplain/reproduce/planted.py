"""Selectors whose honesty is known: some that plant the answer in the choice of the mask, and some that cannot.

Each takes rows (n, d), their labels (n,) and the features that really decide (n, d), and returns masks (n, d); draws come from `generator`.
Rows to learn from and rows to judge are given together, so that what is drawn once holds for both.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor

Selector = Callable[..., Tensor]  # (x, y, truth, *, generator) to masks
LEAST = 3  # features shown to a row of the first class by a selector that spells by size


def position(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001  a selector's signature
    """Spell the label by position: show the feature that has the label's number, and no other.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 3.
    """
    return torch.arange(x.shape[1]) == y[:, None] % x.shape[1]


def size(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Spell the label by size: show a random subset, of one feature more for each class."""
    return torch.rand(x.shape, generator=generator).argsort(1).argsort(1) < LEAST + y[:, None]


def omission(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Show the true features but those of every row: the control flow, which the choice of the others then tells.

    Reference: Jethani et al., 2021, section 3 (a control-flow feature that decides which features are shown, and is not shown itself).
    """
    return truth & ~truth.all(0)


def random_subset(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Show a random subset, of every size as often, whatever the row is."""
    return torch.rand(x.shape, generator=generator) < torch.rand(len(x), 1, generator=generator)


def oracle(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Show the true features, among them the one that decides which they are."""
    return truth.clone()


def global_set(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Show every row the same features, drawn once: at least one, at most all but one."""
    order = torch.rand(x.shape[1], generator=generator).argsort().argsort()
    count = torch.randint(1, x.shape[1], (), generator=generator)
    return (order < count).expand(x.shape).clone()


ENCODERS: dict[str, Selector] = {"position": position, "size": size, "omission": omission}
HONEST: dict[str, Selector] = {"random subsets": random_subset, "oracle": oracle, "global set": global_set}
