"""The default predictor network for tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from torch import nn


def mlp(
    shape: Sequence[int], outputs: int, *, sees_mask: bool, hidden: Sequence[int] = (200, 200), activation: type[nn.Module] = nn.SiLU
) -> nn.Sequential:
    """Dense layers, by default the two of 200 of REAL-X, but smooth unless told; with `sees_mask` the mask comes beside the input."""
    sizes = [prod(shape) * (2 if sees_mask else 1), *hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))
