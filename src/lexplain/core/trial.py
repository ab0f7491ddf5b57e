"""A batch of rows and what has become of them so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution, Normal

from .targets import as_target, rows_of, target_values


@dataclass(frozen=True)
class Trial:
    """A batch of rows, what they should be explained as, and what has become of them so far."""

    x: Tensor  # (b, ...) encoded rows
    target: Distribution  # batch (b,): Categorical or Normal
    valid: Tensor | None = None  # (b, d) of bool: False is padding, which is never selected
    context: Tensor | None = None  # (b, c) what the selector may see beside x (MEED: the model's output)
    irrelevant: Tensor | None = None  # (b, ...) of bool: what people say must not be used, one mark a raw input or a feature
    goal: Tensor | None = None  # (b, d) what a phase computed of each row as it started: gains to regress, or what to show
    progress: float = 0.0  # share of the training done, for schedules
    p: Any = None  # the mask distribution of the selector
    mask: Tensor | None = None  # (M, L, b, d)
    predicted: Distribution | None = None  # batch (M, L, K, b)

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Tensor | slice) -> Trial:
        """The trial of some rows only; what has become of them is forgotten."""
        return replace(
            self,
            x=self.x[rows],
            target=rows_of(self.target, rows),
            valid=None if self.valid is None else self.valid[rows],
            context=None if self.context is None else self.context[rows],
            irrelevant=None if self.irrelevant is None else self.irrelevant[rows],
            goal=None if self.goal is None else self.goal[rows],
            p=None,
            mask=None,
            predicted=None,
        )

    def parts(self, most: int) -> list[Trial]:
        """The trial in parts of so many rows at the most."""
        return [self] if len(self) <= most else [self.take(slice(at, at + most)) for at in range(0, len(self), most)]

    def to(self, device: torch.device | str) -> Trial:
        """The same trial on another device."""
        return replace(
            self,
            x=self.x.to(device),
            target=as_target(target_values(self.target).to(device), isinstance(self.target, Normal)),
            valid=None if self.valid is None else self.valid.to(device),
            context=None if self.context is None else self.context.to(device),
            irrelevant=None if self.irrelevant is None else self.irrelevant.to(device),
            goal=None if self.goal is None else self.goal.to(device),
        )


def joined(one: Trial, other: Trial) -> Trial:
    """The rows of two trials in one; of what has become of them nothing is kept."""
    both = {name: (getattr(one, name), getattr(other, name)) for name in ("x", "valid", "context", "irrelevant", "goal")}
    tensors = {name: None if first is None else torch.cat([first, second]) for name, (first, second) in both.items()}
    values = torch.cat([target_values(one.target), target_values(other.target)])
    return Trial(target=as_target(values, isinstance(one.target, Normal)), **tensors)  # type: ignore[arg-type]  # x is never None
