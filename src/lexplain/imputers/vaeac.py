"""An autoencoder that fills whatever is hidden given whatever is visible."""

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

FLOOR = 1e-2  # least scale of the noise and of latents: a density without one grows without bound on values that repeat
HALVINGS = 3  # of an image's height and width, on the way to the latent


class VAEAC(nn.Module):
    """Draw what is off from a variational autoencoder that was trained to fill under masks of all rates.

    A latent is drawn from a prior that reads what is on; a writer then says what every entry is, and how sure that is. Rows (C, H, W) are
    read as images, all others as flat ones. A soft mask shows as much of an entry as it is on.

    Args:
        mean: taken from every row before a network reads it, of a row's shape.
        scale: what rows are then divided by, of the same shape.
        latent: numbers in a latent.
        width: units of a hidden layer, or channels of a map.
        logistic: the noise of an entry is logistic rather than normal.
        noise: add that noise to what is filled in; otherwise the latent alone makes draws differ.

    Reference:
        Ivanov et al., Variational Autoencoder with Arbitrary Conditioning, 2019, section 4, without its weak prior on the prior's
        parameters: scales have a floor here.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor, *, latent: int, width: int, logistic: bool = False, noise: bool = True) -> None:
        super().__init__()
        self.settings = {"latent": latent, "width": width, "logistic": logistic, "noise": noise}  # what a file must say of it
        self.logistic, self.noise = logistic, noise
        self.register_buffer("mean", mean.clone())
        self.register_buffer("scale", scale.clone())
        self.prior, self.proposal, self.writer = networks(mean.shape, width, latent)
        self.requires_grad_(False)  # whoever trains a method with it in must not train it

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
            x: rows (n, ...).
            latent: numbers in a latent.
            width: units of a hidden layer, or channels of a map.
            steps: of Adam; the step size falls to nothing.
            batch: rows a step, each under a mask of its own.
            learning_rate: of Adam, at the start.
            block: half of the masks hide blocks so long (and so high) as a whole; 1: single entries alone.
            logistic: the noise of an entry is logistic rather than normal.
            noise: whether what is filled in has that noise.
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
                nn.utils.clip_grad_norm_(model.parameters(), 10 * rows[0].numel() ** 0.5)  # a step at a rare row must not undo the rest
                optimiser.step()
                schedule.step()
        return model.requires_grad_(False)

    def elbo(self, x: Tensor, mask: Tensor) -> Tensor:
        """A lower bound (n,) of the log-density of what is hidden given what is visible, from one draw of the latent."""
        on, whole = mask.to(x.dtype), (x - self.mean) / self.scale
        prior, notes = self._read(x, on)
        proposal = _normal(self.proposal(whole, on)[0])
        place, spread = self._write(proposal.rsample(), notes)
        far = (whole - place) / spread
        density = -far - 2 * softplus(-far) if self.logistic else -0.5 * far**2 - 0.5 * math.log(2 * math.pi)
        hidden = (1 - on) * (density - spread.log() - self.scale.log())
        return hidden.flatten(1).sum(1) - kl_divergence(proposal, prior).sum(1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Fill x (n, ...) where mask (n, ...) is off."""
        prior, notes = self._read(x, mask.to(x.dtype))
        values, spread = self._write(prior.loc + prior.scale * torch.randn_like(prior.loc), notes)
        if self.noise:
            draw = torch.logit(torch.rand_like(values), eps=1e-6) if self.logistic else torch.randn_like(values)
            values = values + spread * draw
        return fill(x, mask, self.mean + self.scale * values)

    def _read(self, x: Tensor, on: Tensor) -> tuple[Normal, list[Tensor]]:
        """The latent's prior given what is visible, and the prior network's notes."""
        seen = on * torch.where(on > 0, (x - self.mean) / self.scale, 0.0)  # where: what is hidden may be NaN
        parameters, notes = self.prior(seen, on)
        return _normal(parameters), notes

    def _write(self, latent: Tensor, notes: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Where each entry lies and the scale of its noise, (n, ...), in the networks' units."""
        place, raw = self.writer(latent, notes).unbind(1)
        return place, FLOOR + softplus(raw)


def random_masks(x: Tensor, block: int = 1) -> Tensor:
    """Masks (n, ...) of bool, each of a rate of its own between 0 and 1; an image's channels are hidden together."""
    lead = x.shape[1:2] if x.ndim == 4 else ()
    shape = x.shape[1 + len(lead) :]
    single, coarse = torch.rand(len(x), *shape, device=x.device), _blocks(x, shape, block)
    whole = torch.arange(len(x), device=x.device).reshape(-1, *[1] * len(shape)) % 2 == 1
    rate = torch.rand(len(x), *[1] * len(shape), device=x.device)
    mask = torch.where(whole, coarse, single) < rate
    return mask.unsqueeze(1).expand_as(x) if lead else mask


def _blocks(x: Tensor, shape: Sequence[int], block: int) -> Tensor:
    """Uniform numbers (n, ...) that are the same within a block."""
    numbers = torch.rand(len(x), *[-(-size // block) for size in shape], device=x.device)
    for axis, size in enumerate(shape, 1):
        numbers = numbers.repeat_interleave(block, axis).narrow(axis, 0, size)
    return numbers


def _normal(parameters: Tensor) -> Normal:
    place, raw = parameters.chunk(2, 1)
    return Normal(place, FLOOR + softplus(raw), validate_args=False)  # checks look at the numbers, which vmap forbids


def _units(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and scale of a row's shape: of each column, or of each of an image's channels, whose pixels must stay comparable."""
    over = (0, 2, 3) if x.ndim == 4 else (0,)
    mean, scale = x.mean(over, keepdim=True)[0], x.std(over, correction=0, keepdim=True)[0]
    scale = torch.where(scale > 1e-6, scale, 1.0)  # of a column that never varies
    return mean.expand(x.shape[1:]), scale.expand(x.shape[1:])


# ---- its networks: dense for flat rows, convolutional for images ----


def networks(shape: Sequence[int], width: int, latent: int) -> tuple[nn.Module, nn.Module, nn.Module]:
    """Two readers, the prior's and the proposal's, and a writer for rows of a shape: (C, H, W) is an image, all else is flat.

    A reader takes what it sees and where (n, ...) and gives a latent's parameters (n, 2 latent) and its notes; a writer takes a latent
    (n, latent) and a reader's notes and gives two numbers for each entry, (n, 2, ...).
    """
    if len(shape) == 3:
        return ImageEncoder(shape, width, latent), ImageEncoder(shape, width, latent), ImageDecoder(shape, width, latent)
    return RowEncoder(shape, width, latent), RowEncoder(shape, width, latent), RowDecoder(shape, width, latent)


class RowEncoder(nn.Module):
    """Read a flat row in two hidden layers, the last of which are its notes."""

    def __init__(self, shape: Sequence[int], width: int, latent: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * math.prod(shape), width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 2 * latent)

    def forward(self, x: Tensor, on: Tensor) -> tuple[Tensor, list[Tensor]]:
        """A latent's parameters and the notes (n, width)."""
        notes = self.body(torch.cat([x.flatten(1), on.flatten(1)], 1))
        return self.head(notes), [notes]


class RowDecoder(nn.Module):
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


class ImageEncoder(nn.Module):
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


class ImageDecoder(nn.Module):
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
