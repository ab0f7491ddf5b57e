"""Costs of a mask or of a mask distribution: the features kept, ragged masks, marked features, and scores far from uniform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor

from ..core import Batch
from ..core.contracts import MaskDistribution


def rate_of(batch: Batch) -> Tensor:
    """The share (b,) of valid features that the selector expects to keep."""
    assert batch.p is not None
    mean = batch.p.mean
    return mean.mean(-1) if batch.valid is None else mean.sum(-1) / batch.valid.sum(-1).clamp_min(1)


@dataclass(frozen=True)
class Sparsity:
    """Charge for the features kept, in nats.

    Args:
        price: of keeping every feature (the papers' lambda, which their code multiplies with the MEAN), or of each one.
        each: charge `price` for each feature (the SUM, as the papers write it) rather than for all of them together.
        warmup: share of the training over which the price rises to its full height, so that masks do not empty before the
            predictor has learned.
    """

    price: float
    each: bool = False
    warmup: float = 0.0

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (b,)."""
        ramp = min(1.0, batch.progress / self.warmup) if self.warmup else 1.0
        assert batch.p is not None
        kept = batch.p.mean.sum(-1) if self.each else rate_of(batch)
        return self.price * ramp * kept


@dataclass(frozen=True)
class TargetRate:
    """Charge for keeping more or fewer features than asked, on average over the rows in flight.

    A batch that `max_rows` splits is charged part by part, so that each part has to meet the rate.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix F.2 (its code's absolute rate loss).
    """

    rate: float
    price: float = 3.0

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (b,)."""
        rates = rate_of(batch)
        return (self.price * (rates.mean() - self.rate).abs()).expand_as(rates)


@dataclass(frozen=True, eq=False)
class Continuity:
    """Charge for each pair of neighbours of which one is kept and the other is not (total variation).

    Args:
        price: of each such pair.
        neighbours: pairs (m, 2) of features that lie side by side, as `Features.neighbours` gives them; a pair with padding costs nothing.

    Reference:
        Lei et al., Rationalizing Neural Predictions, 2016, equation 3.
    """

    price: float
    neighbours: Tensor

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (M, b) of masks (M, L, b, d)."""
        assert batch.mask is not None
        mask = batch.mask.to(batch.x.dtype)
        one, other = self.neighbours.to(mask.device).T
        breaks = (mask[..., one] - mask[..., other]).abs()  # (M, L, b, m)
        if batch.valid is not None:
            breaks = breaks * (batch.valid[..., one] & batch.valid[..., other])
        return self.price * breaks.sum(-1).mean(1)


@dataclass(frozen=True)
class Irrelevant:
    """Charge for the marked features that the selector expects to keep: right for the right reasons, on selections instead of slopes.

    Rows without marks cost nothing. The annotation travels with the rows, as `Trial.irrelevant` (b, d).

    Args:
        price: of keeping all the marked features of a row, in nats.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, equation 1, with the mean of the mask in place of the slopes.
    """

    price: float

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (b,)."""
        assert batch.p is not None
        mean = batch.p.mean
        if batch.irrelevant is None:
            return torch.zeros_like(mean[:, 0])
        marks = (batch.irrelevant if batch.valid is None else batch.irrelevant & batch.valid).to(mean.dtype)
        return self.price * (marks * mean).sum(-1) / marks.sum(-1).clamp_min(1)


class OfSize(MaskDistribution, Protocol):
    """A distribution over masks of a fixed number of features."""

    k: int


@dataclass(frozen=True)
class ToUniform:
    """Charge for how far the selector's draws are from uniform: the information that the mask carries about the input.

    Reference:
        Bang et al., Explaining a Black-Box by Using a Deep Variational Information Bottleneck Approach, 2021, equation 8.
    """

    price: float

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (b,): price x k x KL(draw || uniform)."""
        p = cast("OfSize", batch.p)
        share = p.logits.log_softmax(-1)
        count = torch.full_like(share[..., 0], share.shape[-1]) if batch.valid is None else batch.valid.sum(-1).clamp_min(1)
        cost: Tensor = self.price * p.k * ((share.exp() * share).sum(-1) + count.log())
        return cost
