"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from torch import Tensor


def unit_values(x: Tensor) -> Tensor:
    """Refuse rows that an imputer for images of [0, 1] cannot learn from."""
    low, high = (float(x.min()), float(x.max())) if x.numel() else (0.0, 0.0)
    if not (low >= 0 and high <= 1):
        raise ValueError(f"rows from {low:.4g} to {high:.4g} do not lie in [0, 1], which this imputer needs; divide pixels by 255")
    return x
