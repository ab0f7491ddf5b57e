"""How imputed values and visible ones come together, and the simplest of them: one value."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def fill(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """Keep x where a hard (bool) mask is on and `values` elsewhere; a soft mask mixes the two."""
    if mask.dtype == torch.bool:
        return torch.where(mask, x, values)  # where, not a product: 0 x NaN is NaN
    return mask * x + (1 - mask) * values


class Constant(nn.Module):
    """Put a constant wherever a feature is off; after encoding, 0 is a column's mean."""

    random = False  # the same value at every call
    value: Tensor

    def __init__(self, value: float | Tensor = 0.0) -> None:
        super().__init__()
        self.register_buffer("value", torch.as_tensor(value, dtype=torch.float32))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Fill x (n, ...) where mask (n, ...) is off."""
        return fill(x, mask, self.value.expand_as(x))
