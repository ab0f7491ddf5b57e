"""What rows have, where they differ in length: padding is no feature, and counts nowhere."""

from __future__ import annotations

import torch
from torch import Tensor

from lexplain.core import Explanation


def has_features(explanation: Explanation) -> bool:
    """Whether there is a row with a feature, and so something to draw."""
    return int(explanation.counts.sum()) > 0


def valid_features(explanation: Explanation) -> Tensor:
    """(b, d) of bool: the features that each row has."""
    return torch.ones_like(explanation.mask, dtype=torch.bool) if explanation.valid is None else explanation.valid.bool()


def kept_rates(explanation: Explanation) -> Tensor:
    """(d,) the share of rows that keep each feature, among the rows that have it; NaN where none has."""
    return explanation.mask.float().sum(0) / valid_features(explanation).sum(0)
