"""Mixtures of independent discretised logistic columns, for images of 256 levels in [0, 1]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch.utils.checkpoint import checkpoint

from .. import check
from .mixture import FIT_ROWS, ROWS_EACH, Mixture, limit_components, seed, subsample

if TYPE_CHECKING:
    from typing import Self

HALF = 1 / 255  # half the width of a level, in [-1, 1]
EDGE = 0.999  # limit of the first and the last level
NARROWEST = 1e-3  # lower limit of scales, in [-1, 1], for constant columns
CHUNK = 2**22  # entries (rows x components x columns) at once in training


class _Logistics(Mixture):
    """Base of the mixtures in this file: logistic columns, independent given the component."""

    means: Tensor
    scales: Tensor

    def __init__(self, weights: Tensor, means: Tensor, scales: Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights.clone())  # a copy, so that loading a file does not overwrite the arguments
        self.register_buffer("means", means.clone())
        self.register_buffer("scales", scales.clone())

    def log_likelihoods(self, x: Tensor, on: Tensor) -> Tensor:
        """Sum of log-probabilities of visible values, one component at a time: needs no (n, K, D) tensor."""
        means, scales = self.means.flatten(1), self.scales.flatten(1)
        return torch.cat([log_likelihoods(x, on, *one) for one in zip(torch.split(means, 1), torch.split(scales, 1), strict=True)], 1)

    def log_prob(self, x: Tensor) -> Tensor:
        """Log-probabilities (n,) of full rows (n, ...)."""
        flat = x.flatten(1)
        return (self.weights.log() + self.log_likelihoods(flat, torch.ones_like(flat))).logsumexp(1)

    @classmethod
    def fit(
        cls, x: Tensor, *, components: int = 20, rows: int = FIT_ROWS, steps: int = 1000, batch: int = 64, learning_rate: float = 1e-3
    ) -> Self:
        """Learn a mixture from training rows of [0, 1], on their device.

        Args:
            x: Encoded rows (n, ...).
            components: Maximum number of components; at most one per 5 distinct rows.
            rows: Maximum number of rows for the start with k-means, sampled at random.
            steps: Optimiser steps of Adam.
            batch: Rows per step.
            learning_rate: Learning rate of Adam.
        """
        return cls(*fit_logistics(x, components, rows, steps, batch, learning_rate))


def log_likelihoods(x: Tensor, on: Tensor, means: Tensor, scales: Tensor) -> Tensor:
    """Log-probabilities (n, k) of the levels of rows (n, D) of [0, 1] under components (k, D) of [-1, 1], weighted by `on` (n, D)."""
    x = (2 * x - 1).clamp(-1, 1)
    last, first = x > EDGE, x < -EDGE  # the last level has no upper end, the first no lower end
    gap, narrow = x[:, None] - means, 1 / scales  # (n, k, D)
    # S(a) - S(b) = S(a) S(-b) (1 - exp(b - a)): no difference of nearly equal numbers for any level.
    upper = torch.where(last, 0.0, on)[:, None] * logsigmoid((gap + HALF) * narrow)
    lower = torch.where(first, 0.0, on)[:, None] * logsigmoid((HALF - gap) * narrow)
    inside = torch.where(first | last, 0.0, on) @ torch.log(-torch.expm1(-2 * HALF * narrow)).T
    return (upper + lower).sum(2) + inside


def fit_logistics(x: Tensor, components: int, rows: int, steps: int, batch: int, learning_rate: float) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (K,), means and scales (K, ...) of [-1, 1]: from k-means, then by Adam on the exact log-likelihood."""
    check.counts(components=components, rows=rows, batch=batch)
    check.positive(learning_rate=learning_rate)
    low, high = (float(x.min()), float(x.max())) if x.numel() else (0.0, 0.0)
    if not (low >= 0 and high <= 1):
        raise ValueError(f"This imputer needs rows in [0, 1], got values from {low:.4g} to {high:.4g}. Divide pixels by 255.")
    weights, means, scales = (part.to(x) for part in _start(x, components, rows))
    logits, means, spread = weights.log().requires_grad_(), means.requires_grad_(), scales.log().requires_grad_()
    optimiser = torch.optim.Adam([logits, means, spread], lr=learning_rate)
    flat = x.detach().flatten(1)
    chunk = max(1, CHUNK // (batch * flat.shape[1]))
    with torch.enable_grad():
        for _ in range(steps):
            part = flat[torch.randint(len(flat), (batch,), device=x.device)]
            on, pairs = torch.ones_like(part), zip(torch.split(means, chunk), torch.split(spread.exp(), chunk), strict=True)
            # Entries are recomputed in the backward pass, so that only (n, K) is stored.
            fits = torch.cat([checkpoint(log_likelihoods, part, on, *pair, use_reentrant=False) for pair in pairs], 1)
            loss = -(logits.log_softmax(0) + fits).logsumexp(1).mean()
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            with torch.no_grad():
                means.clamp_(-1, 1)
                spread.clamp_(min=math.log(NARROWEST))
    shape = (len(means), *x.shape[1:])
    return logits.detach().softmax(0), means.detach().reshape(shape), spread.detach().exp().reshape(shape)


def _start(x: Tensor, components: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (K,), means and scales (K, D) of the clusters of k-means."""
    from sklearn.cluster import KMeans

    flat = 2 * subsample(x, rows) - 1
    fitted = KMeans(limit_components(flat, components, ROWS_EACH), n_init=1, random_state=seed()).fit(flat)
    members = torch.nn.functional.one_hot(torch.as_tensor(fitted.labels_).long()).double()  # (n, K)
    counts, values = members.sum(0), torch.as_tensor(flat)
    means = members.T @ values / counts[:, None]
    variances = (members.T @ values**2 / counts[:, None] - means**2).clamp_min(0)
    scales = (variances.sqrt() * math.sqrt(3) / math.pi).clamp_min(
        2 * NARROWEST
    )  # a logistic of scale s has standard deviation s pi / sqrt(3)
    return counts / len(values), means, scales


class LogisticMixture(_Logistics):
    """Sample hidden values from a mixture of logistic distributions over 256 levels, given the visible values.

    Rows are in [0, 1]. Values are sampled from the continuous distributions, not from the levels, and clipped to [0, 1].

    Args:
        weights: Weights (K,) with sum 1.
        means: Means (K, ...) in [-1, 1], to which [0, 1] is scaled.
        scales: Positive scales (K, ...), in the same units.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.6; sums over columns in equations 19 to 21 are products.
        Salimans et al., PixelCNN++, 2017, section 2.1.
    """

    def values(self, component: Tensor) -> Tensor:
        """Logistic samples (n, ...) of the components (n,)."""
        means = self.means[component]
        noise = torch.logit(torch.rand_like(means), eps=1e-6)
        return (means + self.scales[component] * noise).clamp(-1, 1) / 2 + 0.5


class LogisticMeans(_Logistics):
    """Impute the means of a component that is sampled given the visible values.

    Args: See `LogisticMixture`; `LogisticMeans.of` takes a fitted one.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.7.
    """

    @classmethod
    def of(cls, mixture: LogisticMixture) -> LogisticMeans:
        """Use the components of a fitted mixture."""
        return cls(mixture.weights, mixture.means, mixture.scales)

    def values(self, component: Tensor) -> Tensor:
        """Means (n, ...) of the components (n,)."""
        return self.means[component].clamp(-1, 1) / 2 + 0.5
