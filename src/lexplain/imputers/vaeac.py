"""Imputation by an autoencoder conditioned on any visible values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence
from torch.nn.functional import interpolate, silu, softplus

from .. import check
from ..bars import progress_range
from .fill import fill

FLOOR = 1e-2  # lower limit of scales of noise and latents: without one, densities of repeated values are unbounded
HALVINGS = 3  # of an image's height and width in the encoder


class VAEAC(nn.Module):
    """Sample hidden values from a variational autoencoder that was trained to impute under masks of all rates.

    A latent is sampled from a prior given the visible values; a decoder returns the location and scale of each entry. Rows (C, H, W) are
    images, all other rows are flattened. A soft mask scales the visible values.

    Args:
        mean: Mean that is subtracted from rows, in the shape of a row.
        scale: Scale that rows are divided by, in the shape of a row.
        latent: Size of the latent.
        width: Units of a hidden layer, or channels of a convolution.
        logistic: The noise of an entry is logistic rather than normal.
        noise: Add that noise to imputed values; otherwise only the latent is random.

    Reference:
        Ivanov et al., Variational Autoencoder with Arbitrary Conditioning, 2019, section 4, without its weak prior on the prior's
        parameters: scales have a lower limit here.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor, *, latent: int, width: int, logistic: bool = False, noise: bool = True) -> None:
        super().__init__()
        self.settings = {"latent": latent, "width": width, "logistic": logistic, "noise": noise}  # stored in files
        self.logistic, self.noise = logistic, noise
        self.register_buffer("mean", mean.clone())
        self.register_buffer("scale", scale.clone())
        self.prior, self.proposal, self.writer = networks(mean.shape, width, latent)
        self.requires_grad_(False)  # training a method must not train its imputer

    @classmethod
    def fit(
        cls,
        x: Tensor,
        *,
        latent: int = 8,
        width: int = 64,
        steps: int = 2000,
        batch: int = 64,
        learning_rate: float = 2e-3,
        block: int = 1,
        logistic: bool = False,
        noise: bool = True,
    ) -> VAEAC:
        """Learn from training rows, on their device.

        Args:
            x: Encoded rows (n, ...).
            latent: Size of the latent.
            width: Units of a hidden layer, or channels of a convolution.
            steps: Optimiser steps of Adam; the learning rate decreases to 0.
            batch: Rows per step, each with its own mask.
            learning_rate: Learning rate of Adam at the start.
            block: Side of the blocks that half of the masks hide; 1: only single entries.
            logistic: The noise of an entry is logistic rather than normal.
            noise: Add that noise to imputed values.
        """
        check.counts(latent=latent, width=width, steps=steps, batch=batch, block=block)
        check.positive(learning_rate=learning_rate)
        x = x.detach()
        model = cls(*_units(x), latent=latent, width=width, logistic=logistic, noise=noise).to(x)
        model.requires_grad_(True)
        optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
        with torch.enable_grad():
            for _ in progress_range("VAEAC", steps):
                rows = x[torch.randint(len(x), (batch,), device=x.device)]
                loss = -model.elbo(rows, random_masks(rows, block)).mean()
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                nn.utils.clip_grad_norm_(model.parameters(), 10 * rows[0].numel() ** 0.5)  # limits the effect of rare rows
                optimiser.step()
                schedule.step()
        return model.requires_grad_(False)

    def elbo(self, x: Tensor, mask: Tensor) -> Tensor:
        """A lower bound (n,) of the log-density of hidden values given visible ones, from one sample of the latent."""
        on, full = mask.to(x.dtype), (x - self.mean) / self.scale
        prior, notes = self._read(x, on)
        proposal = _normal(self.proposal(full, on)[0])
        place, spread = self._write(proposal.rsample(), notes)
        error = (full - place) / spread
        density = -error - 2 * softplus(-error) if self.logistic else -0.5 * error**2 - 0.5 * math.log(2 * math.pi)
        hidden = (1 - on) * (density - spread.log() - self.scale.log())
        return hidden.flatten(1).sum(1) - kl_divergence(proposal, prior).sum(1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it."""
        prior, notes = self._read(x, mask.to(x.dtype))
        values, spread = self._write(prior.loc + prior.scale * torch.randn_like(prior.loc), notes)
        if self.noise:
            draw = torch.logit(torch.rand_like(values), eps=1e-6) if self.logistic else torch.randn_like(values)
            values = values + spread * draw
        return fill(x, mask, self.mean + self.scale * values)

    def _read(self, x: Tensor, on: Tensor) -> tuple[Normal, list[Tensor]]:
        """The prior of the latent given the visible values, and the hidden layers of the prior network."""
        seen = on * torch.where(on > 0, (x - self.mean) / self.scale, 0.0)  # where: hidden values may be NaN
        parameters, notes = self.prior(seen, on)
        return _normal(parameters), notes

    def _write(self, latent: Tensor, notes: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Location and scale (n, ...) of each entry, in the networks' units."""
        place, raw = self.writer(latent, notes).unbind(1)
        return place, FLOOR + softplus(raw)


def random_masks(x: Tensor, block: int = 1) -> Tensor:
    """Masks (n, ...) of bool with one random rate per row; all channels of an image are hidden together."""
    lead = x.shape[1:2] if x.ndim == 4 else ()
    shape = x.shape[1 + len(lead) :]
    single, coarse = torch.rand(len(x), *shape, device=x.device), _blocks(x, shape, block)
    odd = torch.arange(len(x), device=x.device).reshape(-1, *[1] * len(shape)) % 2 == 1
    rate = torch.rand(len(x), *[1] * len(shape), device=x.device)
    mask = torch.where(odd, coarse, single) < rate
    return mask.unsqueeze(1).expand_as(x) if lead else mask


def _blocks(x: Tensor, shape: Sequence[int], block: int) -> Tensor:
    """Uniform numbers (n, ...) that are equal within a block."""
    numbers = torch.rand(len(x), *[-(-size // block) for size in shape], device=x.device)
    for axis, size in enumerate(shape, 1):
        numbers = numbers.repeat_interleave(block, axis).narrow(axis, 0, size)
    return numbers


def _normal(parameters: Tensor) -> Normal:
    place, raw = parameters.chunk(2, 1)
    return Normal(place, FLOOR + softplus(raw), validate_args=False)  # validation reads values, which vmap forbids


def _units(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and scale in the shape of a row: per column, or per channel of an image."""
    over = (0, 2, 3) if x.ndim == 4 else (0,)
    mean, scale = x.mean(over, keepdim=True)[0], x.std(over, correction=0, keepdim=True)[0]
    scale = torch.where(scale > 1e-6, scale, 1.0)  # for constant columns
    return mean.expand(x.shape[1:]), scale.expand(x.shape[1:])


# ---- networks: dense for flat rows, convolutional for images ----


def networks(shape: Sequence[int], width: int, latent: int) -> tuple[nn.Module, nn.Module, nn.Module]:
    """Encoders of the prior and the proposal, and a decoder, for rows of a shape: (C, H, W) is an image, others are flattened.

    An encoder maps visible values and a mask (n, ...) to the parameters of a latent (n, 2 latent) and its hidden layers (`notes`).
    A decoder maps a latent (n, latent) and these layers to two numbers per entry, (n, 2, ...).
    """
    if len(shape) == 3:
        return ImageEncoder(shape, width, latent), ImageEncoder(shape, width, latent), ImageDecoder(shape, width, latent)
    return RowEncoder(shape, width, latent), RowEncoder(shape, width, latent), RowDecoder(shape, width, latent)


class RowEncoder(nn.Module):
    """Encoder of flat rows with two hidden layers; the last one is returned as notes."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * math.prod(shape), width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 2 * latent)

    def forward(self, x: Tensor, on: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Parameters of the latent, and the notes (n, width)."""
        notes = self.body(torch.cat([x.flatten(1), on.flatten(1)], 1))
        return self.head(notes), [notes]


class RowDecoder(nn.Module):
    """Decoder of flat rows from a latent and the notes."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.body = nn.Sequential(nn.Linear(latent + width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 2 * math.prod(shape))

    def forward(self, latent: Tensor, notes: list[Tensor]) -> Tensor:
        """Two numbers per entry."""
        written: Tensor = self.head(self.body(torch.cat([latent, *notes], 1)))
        return written.reshape(len(latent), 2, *self.shape)


class ImageEncoder(nn.Module):
    """Encoder of images that halves them repeatedly; the feature maps of each size are returned as notes."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(2 * shape[0], width, 3, padding=1)
        self.halve = nn.ModuleList(nn.Conv2d(width, width, 3, stride=2, padding=1) for _ in range(HALVINGS))
        self.head = nn.Linear(width * math.prod(_smallest(shape)), 2 * latent)

    def forward(self, x: Tensor, on: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Parameters of the latent, and the feature maps, the largest first."""
        maps = [silu(self.first(torch.cat([x, on], 1)))]
        for halve in self.halve:
            maps.append(silu(halve(maps[-1])))
        return self.head(maps[-1].flatten(1)), maps


class ImageDecoder(nn.Module):
    """Decoder of images that doubles them repeatedly and appends the feature map of each size, as in a U-Net."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.start = (width, *_smallest(shape))
        self.first = nn.Linear(latent, math.prod(self.start))
        self.join = nn.ModuleList(nn.Conv2d(2 * width, width, 3, padding=1) for _ in range(HALVINGS + 1))
        self.last = nn.Conv2d(width, 2 * shape[0], 3, padding=1)

    def forward(self, latent: Tensor, notes: list[Tensor]) -> Tensor:
        """Two numbers per entry."""
        written: Tensor = self.first(latent).reshape(len(latent), *self.start)
        for join, note in zip(self.join, reversed(notes), strict=True):
            written = silu(join(torch.cat([interpolate(written, size=note.shape[2:]), note], 1)))
        written = self.last(written)
        return written.reshape(len(latent), 2, -1, *written.shape[2:])


def _smallest(shape: Sequence[int]) -> tuple[int, int]:
    """Height and width after all halvings, each rounded up."""
    return math.ceil(shape[1] / 2**HALVINGS), math.ceil(shape[2] / 2**HALVINGS)
