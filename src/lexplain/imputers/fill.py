"""Combine visible and imputed values, and the imputer of a constant."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def fill(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """Return x where a hard (bool) mask is True and `values` elsewhere; a soft mask mixes the two."""
    if mask.dtype == torch.bool:
        return torch.where(mask, x, values)  # where, not a product: 0 x NaN is NaN
    return mask * x + (1 - mask) * values


class Constant(nn.Module):
    """Impute a constant; in encoded rows, 0 is the mean of a column."""

    random = False  # no random numbers
    value: Tensor

    def __init__(self, value: float | Tensor = 0.0) -> None:
        super().__init__()
        self.register_buffer("value", torch.as_tensor(value, dtype=torch.float32))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it."""
        return fill(x, mask, self.value.expand_as(x))
