"""Predictor networks for images: a convolutional network for any size (the default), and a DenseNet for large images."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

SMALL = 8  # pixels along the shorter side at which halving stops
GROUPS = 8  # groups of channels for normalisation
SIDE = 32  # smallest side that can be halved five times


def cnn(
    shape: Sequence[int],
    outputs: int,
    *,
    sees_mask: bool,
    width: int = 32,
    hidden: int = 128,
    activation: type[nn.Module] = nn.ReLU,
    norm: bool = False,
) -> nn.Sequential:
    """Pairs of 3 x 3 convolutions, each pair halving the image, until it is small; then two dense layers. Any size, any channels.

    Args:
        shape: Channels, rows and columns of one image.
        outputs: Number of outputs.
        sees_mask: The mask is appended to the image as extra channels.
        width: Channels of the first pair; they double up to four times as many.
        hidden: Width of the dense layer.
        activation: Activation between layers.
        norm: Normalise groups of channels, which deep networks for large images need.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix D (convolution blocks of 32 and 64, dense 128).
    """
    channels, rows, columns = shape
    before, after = channels * (2 if sees_mask else 1), width
    layers: list[nn.Module] = []
    while True:
        layers += [nn.Conv2d(before, after, 3, padding=1), *_normed(after, norm), activation()]
        layers += [nn.Conv2d(after, after, 3, stride=2, padding=1), *_normed(after, norm), activation()]
        rows, columns, before, after = -(-rows // 2), -(-columns // 2), after, min(2 * after, 4 * width)
        if min(rows, columns) <= SMALL:
            break
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(before * rows * columns, hidden), activation(), nn.Linear(hidden, outputs))


def _normed(channels: int, norm: bool) -> list[nn.Module]:
    return [_norm(channels)] if norm else []


class DenseNet(nn.Module):
    """DenseNet, by default DenseNet-121: the input of each layer of a block is the output of all previous ones. Images from 32 pixels.

    Groups of channels are normalised instead of batches, because masked and full images must not share statistics.

    Args:
        shape: Channels, rows and columns of one image.
        outputs: Number of outputs.
        sees_mask: The mask is appended to the image as extra channels.
        blocks: Layers of each block; (6, 12, 24, 16) for DenseNet-121.
        growth: Channels that each layer adds.

    Reference:
        Huang et al., Densely Connected Convolutional Networks, 2017, table 1.
    """

    def __init__(
        self, shape: Sequence[int], outputs: int, *, sees_mask: bool, blocks: Sequence[int] = (6, 12, 24, 16), growth: int = 32
    ) -> None:
        super().__init__()
        if min(shape[-2:]) < SIDE:
            size = f"{shape[-2]} x {shape[-1]}"
            raise ValueError(f"Images of {size} pixels are too small for a DenseNet, which needs {SIDE} x {SIDE}. Use `cnn`.")
        width = 2 * growth
        stem = nn.Conv2d(shape[0] * (2 if sees_mask else 1), width, 7, stride=2, padding=3, bias=False)
        layers: list[nn.Module] = [stem, _norm(width), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)]
        for place, depth in enumerate(blocks):
            layers += [_Layer(width + growth * k, growth) for k in range(depth)]
            width += growth * depth
            if place < len(blocks) - 1:  # halve channels and image between blocks
                layers += [_norm(width), nn.ReLU(), nn.Conv2d(width, width // 2, 1, bias=False), nn.AvgPool2d(2)]
                width //= 2
        self.layers = nn.Sequential(*layers, _norm(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.last = nn.Linear(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, c) of images (n, channels, rows, columns)."""
        out: Tensor = self.last(self.layers(x))
        return out


def _norm(width: int) -> nn.GroupNorm:
    return nn.GroupNorm(gcd(GROUPS, width), width)


class _Layer(nn.Module):
    """A 1 x 1 and a 3 x 3 convolution, appended to the input."""

    def __init__(self, width: int, growth: int) -> None:
        super().__init__()
        self.first, self.narrow = _norm(width), nn.Conv2d(width, 4 * growth, 1, bias=False)
        self.second, self.grow = _norm(4 * growth), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Images (n, width, ...) to (n, width + growth, ...)."""
        return torch.cat([x, self.grow(relu(self.second(self.narrow(relu(self.first(x))))))], 1)
