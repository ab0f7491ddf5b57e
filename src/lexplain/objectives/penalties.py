"""Costs of masks and mask distributions: kept features, disconnected masks, irrelevant features, and distance from uniform."""

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
    """Cost of kept features, in nats.

    Args:
        price: Cost of keeping all features (the papers' lambda, which their code multiplies with the MEAN), or of each one.
        each: `price` is the cost of each feature (the SUM, as in the papers) rather than of all of them.
        warmup: Share of the training over which the price increases to its full value, so that masks do not become empty before the
            predictor is trained.
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
    """Cost of keeping more or fewer features than a rate, on average over the rows of a network call.

    If `max_rows` splits a batch, each part has its own cost and has to meet the rate.

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
    """Cost of each pair of neighbours with only one of them kept (total variation).

    Args:
        price: Cost of each such pair.
        neighbours: Pairs (m, 2) of neighbouring features, from `Features.neighbours`; pairs with padding cost nothing.

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
    """Cost of irrelevant features that the selector keeps: right for the right reasons, with selections instead of input gradients.

    Rows without irrelevant features cost nothing. The annotation is `Batch.irrelevant` (b, d).

    Args:
        price: Cost of keeping all irrelevant features of a row, in nats.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, equation 1, with the mean of the mask instead of input gradients.
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
    """Cost of the distance of the selector's distribution from uniform: the information that the mask carries about the row.

    Reference:
        Bang et al., Explaining a Black-Box by Using a Deep Variational Information Bottleneck Approach, 2021, equation 8.
    """

    price: float

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (b,): price x k x KL(selector || uniform)."""
        p = cast("OfSize", batch.p)
        share = p.logits.log_softmax(-1)
        count = torch.full_like(share[..., 0], share.shape[-1]) if batch.valid is None else batch.valid.sum(-1).clamp_min(1)
        cost: Tensor = self.price * p.k * ((share.exp() * share).sum(-1) + count.log())
        return cost
