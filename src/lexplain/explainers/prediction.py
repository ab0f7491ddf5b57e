"""What an explanation says of its rows when it is read, which may be long after."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core import seeded
from ..core.contracts import Encoded
from ..methods import TEST_IMPUTATIONS, Method


def prediction_of(method: Method, encoded: Encoded, mask: Tensor, *, units: tuple[float, float] | None, max_rows: int) -> Tensor:
    """What a method's predictor says (b, c) from what a mask shows; a later fit of its explainer changes nothing here.

    Args:
        method: the fitted parts.
        encoded: rows.
        mask: (b, d) of bool.
        units: scale and mean that give a real-valued target its own units; None: class probabilities.
        max_rows: rows that the predictor sees at a time.
    """
    step = max(1, max_rows // TEST_IMPUTATIONS)
    parts = []
    for at in range(0, len(mask), step):
        rows = slice(at, at + step)
        valid = None if encoded.valid is None else encoded.valid[rows]
        with seeded(0):  # the same imputations for every row and at every call
            parts.append(method.probabilities(encoded.x[rows], mask[rows].to(encoded.x.device), valid))
    values = torch.cat(parts).cpu()
    return values if units is None else values * units[0] + units[1]
