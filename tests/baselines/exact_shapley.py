"""Shapley values by their definition."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import torch
from torch import Tensor


def exact_shapley(value: Callable[[Tensor], Tensor], count: int) -> Tensor:
    """Shapley values (count, ...) of a game, from its value on every one of the 2 ** count subsets.

    Args:
        value: masks (m, count) of bool, True = visible, to values (m, ...).
        count: players; ten are many.

    Reference:
        Shapley, A Value for n-Person Games, 1953, equation 12.

    Example:
        >>> exact_shapley(lambda mask: mask.double() @ torch.tensor([1.0, 3.0]).double() + mask.all(1), 2)
        tensor([1.5000, 3.5000], dtype=torch.float64)
    """
    codes = torch.arange(2**count)
    masks = (codes[:, None] >> torch.arange(count)) & 1  # (m, count): the subset that a number spells in binary
    values = value(masks.bool()).double()  # (m, ...)
    size = masks.sum(1)
    shares = torch.tensor([factorial(s) * factorial(count - s - 1) / factorial(count) for s in range(count)], dtype=torch.double)
    # Joining a subset of size s counts shares[s]; the value of a subset is gained by its members and lost by the others.
    joins, leaves = shares[(size - 1).clamp_min(0)][:, None] * masks, shares[size.clamp_max(count - 1)][:, None] * (1 - masks)
    shapley: Tensor = torch.tensordot((joins - leaves).T, values, dims=1)  # (count, ...)
    return shapley
