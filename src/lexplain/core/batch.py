"""A batch of rows and what has become of them so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution, Normal

from .contracts import MaskDistribution
from .outputs import as_target, target_values

OF_ROWS = ("valid", "context", "explainer_masks", "irrelevant", "aux_target")  # tensors (b, ...) that may be missing


@dataclass(frozen=True)
class Batch:
    """A batch of rows, what they should be explained as, and what has become of them so far."""

    x: Tensor  # (b, ...) encoded rows
    target: Distribution  # batch (b,): Categorical or Normal
    valid: Tensor | None = None  # (b, d) of bool: False is padding, which is never selected
    context: Tensor | None = None  # (b, c) what the selector may see beside x (MEED: the model's output)
    explainer_masks: Tensor | None = None  # (b, d) of bool: masks that somebody chose for these rows, for readers to learn from
    irrelevant: Tensor | None = None  # (b, ...) of bool: what people say must not be used, one mark a raw input or a feature
    aux_target: Tensor | None = None  # (b, ...) what was computed of each row to learn from, such as gains to regress or what to show
    progress: float = 0.0  # share of the training done, for schedules
    p: MaskDistribution | None = None  # of the selector
    mask: Tensor | None = None  # (M, L, b, d)
    predicted: Distribution | None = None  # batch (M, L, K, b)

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Tensor | slice) -> Batch:
        """The trial of some rows only; what has become of them is forgotten."""
        return replace(self._each(lambda tensor: tensor[rows]), p=None, mask=None, predicted=None)

    def to(self, device: torch.device | str) -> Batch:
        """The same trial on another device."""
        return self._each(lambda tensor: tensor.to(device))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The trial with every tensor (b, ...) of its rows changed alike."""
        tensors = {name: getattr(self, name) for name in OF_ROWS}
        changed: dict[str, Any] = {name: None if tensor is None else change(tensor) for name, tensor in tensors.items()}
        target = as_target(change(target_values(self.target)), isinstance(self.target, Normal))
        return replace(self, x=change(self.x), target=target, **changed)

    def chunks(self, most: int) -> list[Batch]:
        """The trial in parts of so many rows at the most."""
        return [self] if len(self) <= most else [self.take(slice(at, at + most)) for at in range(0, len(self), most)]


def concat_batches(one: Batch, other: Batch) -> Batch:
    """The rows of two trials in one; of what has become of them nothing is kept."""
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in OF_ROWS}
    both: dict[str, Any] = {name: None if any(part is None for part in pair) else torch.cat(pair) for name, pair in pairs.items()}
    values = torch.cat([target_values(one.target), target_values(other.target)])
    return Batch(torch.cat([one.x, other.x]), as_target(values, isinstance(one.target, Normal)), **both)
