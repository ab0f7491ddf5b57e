"""The selector network that suits the features."""

from __future__ import annotations

from typing import Any

from torch import nn

from .mlp import MLP
from .unet import UNet


def selector_for(features: Any, *, context: int = 0, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    """A U-Net for patches of images, dense layers for all else."""
    grid = getattr(features, "grid", None)
    if grid is None:
        return MLP(features.shape, features.count, context=context, activation=activation)
    return UNet(features.shape, grid, layers=features.count // (grid[0] * grid[1]), context=context)
