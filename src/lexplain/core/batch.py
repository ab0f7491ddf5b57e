"""A batch of rows, its targets, and results computed so far."""

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
    """A batch of rows, its targets, and results computed so far."""

    x: Tensor  # (b, ...) encoded rows
    target: Distribution  # batch (b,): Categorical or Normal
    valid: Tensor | None = None  # (b, d) of bool: False is padding, which is never selected
    context: Tensor | None = None  # (b, c) input of the selector in addition to x (MEED: the model's output)
    explainer_masks: Tensor | None = None  # (b, d) of bool: masks of these rows that mask readers are trained on
    irrelevant: Tensor | None = None  # (b, ...) of bool: must not be used; one entry per input or per feature
    aux_target: Tensor | None = None  # (b, ...) computed training targets of each row, such as gains or masks
    progress: float = 0.0  # share of the training done, for schedules
    p: MaskDistribution | None = None  # of the selector
    mask: Tensor | None = None  # (M, L, b, d)
    predicted: Distribution | None = None  # batch (M, L, K, b)

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Tensor | slice) -> Batch:
        """A batch of some of the rows, without results."""
        return replace(self._each(lambda tensor: tensor[rows]), p=None, mask=None, predicted=None)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        return self._each(lambda tensor: tensor.to(device))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The batch with the same change applied to each tensor (b, ...)."""
        tensors = {name: getattr(self, name) for name in OF_ROWS}
        changed: dict[str, Any] = {name: None if tensor is None else change(tensor) for name, tensor in tensors.items()}
        target = as_target(change(target_values(self.target)), isinstance(self.target, Normal))
        return replace(self, x=change(self.x), target=target, **changed)

    def chunks(self, max_rows: int) -> list[Batch]:
        """The batch in parts of at most `max_rows` rows."""
        return [self] if len(self) <= max_rows else [self.take(slice(i, i + max_rows)) for i in range(0, len(self), max_rows)]


def concat_batches(one: Batch, other: Batch) -> Batch:
    """The rows of two batches in one, without results."""
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in OF_ROWS}
    both: dict[str, Any] = {name: None if any(part is None for part in pair) else torch.cat(pair) for name, pair in pairs.items()}
    values = torch.cat([target_values(one.target), target_values(other.target)])
    return Batch(torch.cat([one.x, other.x]), as_target(values, isinstance(one.target, Normal)), **both)
