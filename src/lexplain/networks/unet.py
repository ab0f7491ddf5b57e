"""The default selector network for images."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, relu


class UNet(nn.Module):
    """Scores of the patches of an image: convolutions down to a coarse resolution, and up again to the grid of patches.

    Any size of image and grid. The upward path stops at the size of a patch; the remaining pixels of a patch are averaged.

    Args:
        shape: Channels, rows and columns of one image.
        grid: Rows and columns of patches.
        layers: Scores per patch; more than one if each channel is a feature.
        context: Size of a context that is appended to the image as one more channel (MEED: the model's output).
        width: Channels at the finest resolution; they double with each level.
        levels: Number of halvings of the image. None: until patches are single pixels, at least two.

    Reference:
        Ronneberger, Fischer and Brox, U-Net, 2015; in LEX, appendix D, with two levels for 28 x 56 images.
    """

    default_spread = 2.0  # of its scores: without it, the bias that patches share would show or hide all of them at the start
    above: Tensor | None
    across: Tensor | None

    def __init__(
        self, shape: Sequence[int], grid: Sequence[int], *, layers: int = 1, context: int = 0, width: int = 32, levels: int | None = None
    ) -> None:
        super().__init__()
        channels, rows, columns = shape
        self.grid, self.size = (int(grid[0]), int(grid[1])), (int(rows), int(columns))
        patch = max(1, min(rows // self.grid[0], columns // self.grid[1]))
        levels = max(2, int(log2(patch)) + 1) if levels is None else levels
        levels = min(levels, int(log2(min(rows, columns))))  # the coarsest resolution is one pixel
        widths = [width * 2**k for k in range(levels + 1)]
        self.beside = nn.Linear(context, rows * columns) if context else None
        self.down = nn.ModuleList(_Twice(before, after) for before, after in pairwise([channels + (context > 0), *widths]))
        top = min(int(log2(patch)), levels)  # the finest resolution that is needed
        self.up = nn.ModuleList(_Twice(fine + coarse, fine) for fine, coarse in reversed(list(pairwise(widths))[top:]))
        self.score = nn.Conv2d(widths[top], layers, 1)
        # Not torch's adaptive pooling, whose gradient on a GPU is not deterministic if windows overlap.
        for name, pixels, places in (("above", rows >> top, self.grid[0]), ("across", columns >> top, self.grid[1])):
            self.register_buffer(name, None if pixels == places else _averages(pixels, places), persistent=False)

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """Scores (b, d) of images (b, channels, rows, columns)."""
        if self.beside is not None:
            assert context is not None
            x = torch.cat([x, self.beside(context).reshape(len(x), 1, *self.size)], 1)
        views = []
        for place, block in enumerate(self.down):
            x = block(x if place == 0 else nn.functional.max_pool2d(x, 2))
            views.append(x)
        views.pop()
        for block in self.up:
            fine = views.pop()
            x = block(torch.cat([fine, interpolate(x, fine.shape[-2:], mode="nearest")], 1))
        scores: Tensor = self.score(x)
        if self.above is not None:
            scores = self.above @ scores
        if self.across is not None:
            scores = scores @ self.across.T
        return scores.flatten(1)


def _averages(pixels: int, places: int) -> Tensor:
    """Weights (places, pixels) that average the pixels of each place; a pixel on an edge belongs to both sides."""
    weights = torch.zeros(places, pixels)
    for place in range(places):
        weights[place, place * pixels // places : -(-(place + 1) * pixels // places)] = 1
    return weights / weights.sum(1, keepdim=True)


class _Twice(nn.Module):
    """Two 3 x 3 convolutions."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(before, after, 3, padding=1), nn.Conv2d(after, after, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Images (n, before, ...) to (n, after, ...)."""
        return relu(self.second(relu(self.first(x))))
