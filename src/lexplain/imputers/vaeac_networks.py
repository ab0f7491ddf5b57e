"""The networks of an arbitrary-conditioning autoencoder: dense for flat rows, convolutional for images."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, silu

HALVINGS = 3  # of an image's height and width, on the way to the latent


def networks(shape: Sequence[int], width: int, latent: int) -> tuple[nn.Module, nn.Module, nn.Module]:
    """Two readers, the prior's and the proposal's, and a writer for rows of a shape: (C, H, W) is an image, all else is flat.

    A reader takes what it sees and where (n, ...) and gives a latent's parameters (n, 2 latent) and its notes; a writer takes a latent
    (n, latent) and a reader's notes and gives two numbers for each entry, (n, 2, ...).
    """
    if len(shape) == 3:
        return ImageReader(shape, width, latent), ImageReader(shape, width, latent), ImageWriter(shape, width, latent)
    return RowReader(shape, width, latent), RowReader(shape, width, latent), RowWriter(shape, width, latent)


class RowReader(nn.Module):
    """Read a flat row in two hidden layers, the last of which are its notes."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * math.prod(shape), width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 2 * latent)

    def forward(self, x: Tensor, on: Tensor) -> tuple[Tensor, list[Tensor]]:
        """A latent's parameters and the notes (n, width)."""
        notes = self.body(torch.cat([x.flatten(1), on.flatten(1)], 1))
        return self.head(notes), [notes]


class RowWriter(nn.Module):
    """Write a flat row from a latent and the notes."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.body = nn.Sequential(nn.Linear(latent + width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 2 * math.prod(shape))

    def forward(self, latent: Tensor, notes: list[Tensor]) -> Tensor:
        """Two numbers for each entry."""
        written: Tensor = self.head(self.body(torch.cat([latent, *notes], 1)))
        return written.reshape(len(latent), 2, *self.shape)


class ImageReader(nn.Module):
    """Read an image, halving it; its notes are the maps of each size."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(2 * shape[0], width, 3, padding=1)
        self.halve = nn.ModuleList(nn.Conv2d(width, width, 3, stride=2, padding=1) for _ in range(HALVINGS))
        self.head = nn.Linear(width * math.prod(_smallest(shape)), 2 * latent)

    def forward(self, x: Tensor, on: Tensor) -> tuple[Tensor, list[Tensor]]:
        """A latent's parameters and the maps, the largest first."""
        maps = [silu(self.first(torch.cat([x, on], 1)))]
        for halve in self.halve:
            maps.append(silu(halve(maps[-1])))
        return self.head(maps[-1].flatten(1)), maps


class ImageWriter(nn.Module):
    """Write an image from a latent, doubling it and reading the map of each size beside it (a U-Net's way up)."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.start = (width, *_smallest(shape))
        self.first = nn.Linear(latent, math.prod(self.start))
        self.join = nn.ModuleList(nn.Conv2d(2 * width, width, 3, padding=1) for _ in range(HALVINGS + 1))
        self.last = nn.Conv2d(width, 2 * shape[0], 3, padding=1)

    def forward(self, latent: Tensor, notes: list[Tensor]) -> Tensor:
        """Two numbers for each entry."""
        written: Tensor = self.first(latent).reshape(len(latent), *self.start)
        for join, beside in zip(self.join, reversed(notes), strict=True):
            written = silu(join(torch.cat([interpolate(written, size=beside.shape[2:]), beside], 1)))
        written = self.last(written)
        return written.reshape(len(latent), 2, -1, *written.shape[2:])


def _smallest(shape: Sequence[int]) -> tuple[int, int]:
    """Height and width after all halvings, each rounded up."""
    return math.ceil(shape[1] / 2**HALVINGS), math.ceil(shape[2] / 2**HALVINGS)
