"""The default predictor network for images."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from torch import nn

SMALL = 8  # pixels along the shorter side at which halving ends


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
        shape: channels, rows and columns of one image.
        outputs: numbers returned.
        sees_mask: the mask comes beside the image, as that many more channels.
        width: channels of the first pair; they double up to four times as many.
        hidden: width of the dense layer.
        activation: between layers.
        norm: normalise groups of channels, which deep networks of large images need.

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
    return [nn.GroupNorm(gcd(8, channels), channels)] if norm else []
