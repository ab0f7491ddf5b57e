"""Measures of how much masks keep."""

from __future__ import annotations

from torch import Tensor

from .. import check
from .measure import measure

INCLUDED = {"group": "selection", "included": "always"}


@measure(
    "selection_rate",
    label="Selection rate",
    better=None,
    description="share of the features that are kept",
    percent=True,
    reads=("mask", "valid"),
    **INCLUDED,
)
def selection_rate(mask: Tensor, valid: Tensor | None = None) -> Tensor:
    """Share of the valid features that are kept. NaN for a row that is all padding."""
    mask = check.hard_mask(mask)
    if valid is None:
        return mask.sum(-1).double() / mask.shape[-1]
    mask, valid = check.mask_against_truth(mask, valid)
    return (mask & valid).sum(-1).double() / valid.sum(-1)


@measure("kept", label="Kept", better=None, description="number of features that are kept", reads=("mask",), **INCLUDED)
def kept(mask: Tensor) -> Tensor:
    """Number of features that are kept."""
    return check.hard_mask(mask).sum(-1).double()


@measure("empty", label="Empty", better=False, description="share of rows that keep no feature", percent=True, reads=("mask",), **INCLUDED)
def empty(mask: Tensor) -> Tensor:
    """1 for rows that keep no feature."""
    return (~check.hard_mask(mask).any(-1)).double()
