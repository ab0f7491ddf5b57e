"""How imputed values and visible ones come together."""

import torch
from torch import Tensor


def fill(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """Keep x where a hard (bool) mask is on and `values` elsewhere; a soft mask mixes the two."""
    if mask.dtype == torch.bool:
        return torch.where(mask, x, values)  # where, not a product: 0 x NaN is NaN
    return mask * x + (1 - mask) * values
