"""What an explanation says of its rows when it is asked, which may be long after."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core import seeded
from ..methods import TEST_IMPUTATIONS, Method


def prediction_of(method: Method, x: Tensor, mask: Tensor, *, units: tuple[float, float] | None, max_rows: int) -> Tensor:
    """What a method's predictor says (b, c) from what a mask shows; a later fit of its explainer changes nothing here.

    Args:
        method: the fitted parts.
        x: encoded rows.
        mask: (b, d) of bool.
        units: scale and mean that give a real-valued target its own units; None: class probabilities.
        max_rows: rows that the predictor sees at a time.
    """
    step = max(1, max_rows // TEST_IMPUTATIONS)
    parts = []
    for rows, shown in zip(torch.split(x, step), torch.split(mask, step), strict=True):
        with seeded(0):  # the same imputations for every row and at every call
            parts.append(method.probabilities(rows, shown.to(rows.device)))
    values = torch.cat(parts).cpu()
    return values if units is None else values * units[0] + units[1]
