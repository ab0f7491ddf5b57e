"""Dense networks: of scores for a selector, and of outputs for a predictor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import torch
from torch import Tensor, nn


class MLP(nn.Module):
    """Score features with dense layers, by default the three of 200 of REAL-X, smooth unless told; a context is put beside the input."""

    def __init__(
        self,
        shape: Sequence[int],
        features: int,
        *,
        context: int = 0,
        hidden: Sequence[int] = (200, 200, 200),
        activation: type[nn.Module] = nn.SiLU,
    ) -> None:
        super().__init__()
        sizes = [prod(shape) + context, *hidden]
        layers: list[nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [nn.Linear(before, after), activation()]
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], features))

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """Scores (b, d) of rows (b, ...)."""
        flat = x.flatten(1)
        scores: Tensor = self.layers(flat if context is None else torch.cat([flat, context], 1))
        return scores


def mlp(
    shape: Sequence[int], outputs: int, *, sees_mask: bool, hidden: Sequence[int] = (200, 200), activation: type[nn.Module] = nn.SiLU
) -> nn.Sequential:
    """Dense layers, by default the two of 200 of REAL-X, but smooth unless told; with `sees_mask` the mask comes beside the input."""
    sizes = [prod(shape) * (2 if sees_mask else 1), *hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))
