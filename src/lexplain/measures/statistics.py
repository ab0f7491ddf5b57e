"""Estimates with confidence intervals from one number per row, tests, and ranks of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from .. import check

CELLS = 1_000_000  # maximum random numbers at once, to limit memory


@dataclass(frozen=True)
class Estimate:
    """A mean over rows and its confidence interval."""

    mean: float
    low: float
    high: float
    n: int  # number of rows that count
    level: float = 0.95

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, unit: str = "") -> str:
        """The mean, its unit and the interval, with three decimals."""
        mean, low, high = (decimals(value, 3) for value in (self.mean, self.low, self.high))
        return f"{mean}{unit and ' '}{unit} [{low}, {high}]"


def decimals(value: float, digits: int) -> str:
    """A number with `digits` decimals, and without a sign if it rounds to 0."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def check_paired(a: Tensor, b: Tensor) -> None:
    """Raise if the values are not of the same rows."""
    if a.shape != b.shape:
        raise ValueError(f"Values of shapes {tuple(a.shape)} and {tuple(b.shape)} cannot be paired. Measure both on the same rows.")


def _check_values(values: Tensor) -> None:
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"Values of shape {tuple(values.shape)} cannot be averaged. Pass one number per row, (rows,).")
    if values.isinf().any():
        raise ValueError("Some values are infinite, so their mean is too. Clip them, or set them to NaN to leave these rows out.")


def bootstrap(values: Tensor, *, level: float = 0.95, resamples: int = 1000, seed: int = 0) -> Estimate:
    """Estimate the mean of (b,) values with a percentile bootstrap over rows.

    Rows whose value is NaN are left out. If all are NaN, the estimate is NaN with n = 0.

    Reference: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    _check_values(values)
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(f"level must be between 0 and 1 and resamples at least 1, got level={level} and resamples={resamples}.")
    counted = values[~values.isnan()].detach().double().cpu().numpy()
    n = len(counted)
    if n == 0:
        return Estimate(float("nan"), float("nan"), float("nan"), 0, level)
    distinct, times = np.unique(counted, return_counts=True)
    mean = float(times / n @ distinct)
    means = mean + _resampled_means(distinct - mean, times, resamples, np.random.default_rng(seed))  # centred: exact if all are equal
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(mean, min(float(low), mean), max(float(high), mean), n, level)  # rounding must not push the mean out


def _resampled_means(distinct: np.ndarray, times: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Means of bootstrap samples from distinct values with their counts."""
    n, repeated = int(times.sum()), 8 * len(distinct) < times.sum()
    values = np.repeat(distinct, times)
    means = np.empty(resamples)
    chunk = max(1, CELLS // (len(distinct) if repeated else n))
    for start in range(0, resamples, chunk):
        part = means[start : start + chunk]
        if repeated:  # faster if many values are equal; the distribution is the same
            part[:] = rng.multinomial(n, times / n, size=len(part)) / n @ distinct
        else:
            part[:] = values[rng.integers(n, size=(len(part), n))].mean(1)
    return means


def paired_difference(a: Tensor, b: Tensor, *, level: float = 0.95, resamples: int = 1000, seed: int = 0) -> Estimate:
    """Estimate the mean of a - b over the same rows. An interval without 0 is a significant difference."""
    check_paired(a, b)
    return bootstrap(a.double() - b.double(), level=level, resamples=resamples, seed=seed)


def paired_test(a: Tensor, b: Tensor, *, resamples: int = 10_000, seed: int = 0) -> float:
    """Two-sided p-value of a sign-flip test that two values (b,) of the same rows have equal means.

    If neither is better, both signs of a row's difference are equally likely. All sign combinations are used if there are at most
    `resamples`; otherwise random ones, and p is at least 1 / (resamples + 1). Rows with a NaN value are left out.

    Reference: Fisher, The Design of Experiments, 1935, section 21; Phipson and Smyth, Permutation P-values should never be zero, 2010.
    """
    check_paired(a, b)
    _check_values(a - b)
    check.counts(resamples=resamples)
    difference = (a.double() - b.double()).detach().cpu().numpy()
    sizes = np.abs(difference[~np.isnan(difference) & (difference != 0)])  # differences of 0 have no sign
    observed = abs(difference[~np.isnan(difference)].sum()) - 1e-9 * sizes.sum()  # tolerance for rounding errors
    n = len(sizes)
    if 2**n <= resamples:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float((np.abs(signs @ sizes) >= observed).mean())
    distinct, times = np.unique(sizes, return_counts=True)
    rng, chunk = np.random.default_rng(seed), max(1, CELLS // len(distinct))
    extreme = 0
    for start in range(0, resamples, chunk):  # for equal differences, only the number of flips matters
        plus = rng.binomial(times, 0.5, size=(min(chunk, resamples - start), len(distinct)))
        extreme += int((np.abs((2 * plus - times) @ distinct) >= observed).sum())
    return (extreme + 1) / (resamples + 1)


def holm(p_values: Tensor) -> Tensor:
    """Adjust p-values (m,) for m tests: with the level as threshold, the probability of any false rejection is at most the level.

    Reference: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    p_values = torch.as_tensor(p_values, dtype=torch.float64)
    if p_values.ndim != 1 or not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError(f"p-values must be (tests,) numbers from 0 to 1, got {p_values.tolist()}. Leave out values that are NaN.")
    order = p_values.argsort(stable=True)
    factors = torch.arange(len(p_values), 0, -1, dtype=torch.float64, device=p_values.device)
    adjusted = torch.empty_like(p_values)
    adjusted[order] = (factors * p_values[order]).clamp(max=1).cummax(0).values if len(p_values) else p_values
    return adjusted


def placement(values: Tensor, among: Tensor) -> Tensor:
    """Share of `among` (..., m) below each of `values` (..., n), with ties counted half; in O((n + m) log m)."""
    ordered, values = among.contiguous().sort(-1).values, values.contiguous()  # searchsorted warns if values are not contiguous
    below = torch.searchsorted(ordered, values)
    not_above = torch.searchsorted(ordered, values, right=True)
    return (below + not_above).double() / (2 * among.shape[-1])


def pooled_auroc(scores: Tensor, positive: Tensor, valid: Tensor | None = None) -> Tensor:
    """AUROC over all entries, as values per row (..., b) whose plain mean is the AUROC.

    A row's value is the AUROC plus b times the row's influence on it: the placement of its positive entries among the negatives, and of
    its negatives among the positives, minus the AUROC. So a bootstrap over rows gives DeLong's interval, with the entries of a row kept
    together. Values can be outside [0, 1]. They are NaN if all entries are positive or all are negative.

    Args:
        scores: Scores (..., b, entries); higher means positive.
        positive: (b, entries) of bool.
        valid: (b, entries) of bool: entries that count. None: all.

    Reference: Obuchowski, Nonparametric analysis of clustered ROC curve data, 1997; with one entry per row: DeLong et al., 1988.
    """
    positive, negative = (positive, ~positive) if valid is None else (positive & valid, ~positive & valid)
    above, below = scores[..., positive], scores[..., negative]  # (..., P) and (..., N)
    if above.shape[-1] == 0 or below.shape[-1] == 0:
        return scores.new_full(scores.shape[:-1], float("nan"), dtype=torch.float64)
    placed = torch.zeros(scores.shape, dtype=torch.float64, device=scores.device)
    placed[..., positive] = placement(above, below)
    placed[..., negative] = 1 - placement(below, above)
    area = placed[..., positive].mean(-1)  # (...)
    size = torch.where(positive, above.shape[-1], below.shape[-1])
    difference = (placed - area[..., None, None]) / size
    influence = (difference if valid is None else torch.where(valid, difference, 0.0)).sum(-1)  # (..., b), sums to 0
    return area[..., None] + len(positive) * influence


# ---- scores as ranks ----


def without_padding(scores: Tensor, valid: Tensor | None) -> Tensor:
    """Scores (..., d) with the lowest possible score for padding."""
    return scores if valid is None else scores.masked_fill(~valid, -torch.inf)


def scores_of_rows(scores: Tensor, x: Tensor, count: int) -> Tensor:
    """Return scores. Raises unless there is one score per row and feature."""
    if scores.shape != (len(x), count) or scores.isnan().any():
        raise ValueError(
            f"Scores of shape {tuple(scores.shape)} do not fit {len(x)} rows with {count} features. "
            "Pass one score per row and feature, (rows, features), without NaN."
        )
    return scores


def positions(scores: Tensor, generator: Generator | None = None, valid: Tensor | None = None) -> Tensor:
    """Rank (..., d) of each feature by descending score, from 0. Tied features are ordered at random; padding is last.

    Without the random order, the first columns would rank highest if scores are zeros and ones.
    """
    scores = without_padding(scores, valid)
    shuffle = torch.rand(scores.shape, generator=generator, device=scores.device).argsort(-1)
    order = shuffle.gather(-1, scores.gather(-1, shuffle).argsort(dim=-1, descending=True, stable=True))  # the features, best first
    return order.argsort(-1)  # a permutation's inverse


def centred_ranks(scores: Tensor, valid: Tensor | None = None) -> Tensor:
    """Ranks (..., d) with mean 0 and norm 1. Tied scores share a rank, padding gets 0, and equal scores give NaN.

    The inner product of two is Spearman's rank correlation.
    """
    if valid is None:
        ranks = placement(scores, scores)
        centred = ranks - ranks.mean(-1, keepdim=True)
    else:
        lowest = without_padding(scores, valid)  # padding shifts all other ranks of a row equally
        ranks = torch.where(valid, placement(lowest, lowest), 0.0)
        centred = torch.where(valid, ranks - ranks.sum(-1, keepdim=True) / valid.sum(-1, keepdim=True), 0.0)
    length: Tensor = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
    return centred / length
