"""The predictor network that suits the shape of the input."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from .cnn import cnn
from .mlp import mlp


def network_for(shape: Sequence[int], outputs: int, *, sees_mask: bool, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Convolutions for images (channels, rows, columns), dense layers for all else."""
    make = cnn if len(shape) == 3 else mlp
    return make(shape, outputs, sees_mask=sees_mask, activation=activation)
