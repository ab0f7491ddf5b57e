"""From one number per row to an estimate with a confidence interval; and scores as ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from .. import check

CELLS = 1_000_000  # counts drawn at a time, to bound memory


@dataclass(frozen=True)
class Estimate:
    """A mean over instances and the interval that holds the true one at the given level."""

    mean: float
    low: float
    high: float
    n: int  # instances that counted
    level: float = 0.95

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, unit: str = "") -> str:
        """The mean, its unit and the interval, in three digits."""
        mean, low, high = (decimals(value, 3) for value in (self.mean, self.low, self.high))
        return f"{mean}{unit and ' '}{unit} [{low}, {high}]"


def decimals(value: float, digits: int) -> str:
    """A number with so many decimals; what rounds to nothing has no sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def refuse_unpaired(a: Tensor, b: Tensor) -> None:
    """Refuse to pair values of different instances."""
    if a.shape != b.shape:
        raise ValueError(f"values of shapes {tuple(a.shape)} and {tuple(b.shape)} cannot be paired; measure both on the same rows")


def _refuse_unaveraged(values: Tensor) -> None:
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"values of shape {tuple(values.shape)} cannot be averaged; one number an instance, (rows,), is needed")
    if values.isinf().any():
        raise ValueError("some values are infinite, so their mean is too; bound them, or set them to NaN to leave these instances out")


def bootstrap(values: Tensor, *, level: float = 0.95, resamples: int = 1000, seed: int = 0) -> Estimate:
    """Estimate the mean of (b,) values with a percentile bootstrap over instances.

    Instances whose value is NaN are left out; where all are, the estimate is NaN with n = 0.

    Reference: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    _refuse_unaveraged(values)
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(f"level={level} and resamples={resamples}, but a level between 0 and 1 and at least one resample are needed")
    counted = values[~values.isnan()].detach().double().cpu().numpy()
    n = len(counted)
    if n == 0:
        return Estimate(float("nan"), float("nan"), float("nan"), 0, level)
    distinct, times = np.unique(counted, return_counts=True)
    mean = float(times / n @ distinct)
    means = mean + _resampled_means(distinct - mean, times, resamples, np.random.default_rng(seed))  # centred: equal values stay exact
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(mean, min(float(low), mean), max(float(high), mean), n, level)  # rounding must not push the mean out


def _resampled_means(distinct: np.ndarray, times: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Means of as many draws, with replacement, from values given by how often each occurs."""
    n, few = int(times.sum()), 8 * len(distinct) < times.sum()
    values = np.repeat(distinct, times)
    means = np.empty(resamples)
    chunk = max(1, CELLS // (len(distinct) if few else n))
    for start in range(0, resamples, chunk):
        part = means[start : start + chunk]
        if few:  # counting equal values together is faster, drawing rows is when they differ; the law is the same
            part[:] = rng.multinomial(n, times / n, size=len(part)) / n @ distinct
        else:
            part[:] = values[rng.integers(n, size=(len(part), n))].mean(1)
    return means


def paired_difference(a: Tensor, b: Tensor, *, level: float = 0.95, resamples: int = 1000, seed: int = 0) -> Estimate:
    """Estimate the mean of a - b over instances that both were measured on; an interval without 0 tells them apart."""
    refuse_unpaired(a, b)
    return bootstrap(a.double() - b.double(), level=level, resamples=resamples, seed=seed)


def paired_test(a: Tensor, b: Tensor, *, resamples: int = 10_000, seed: int = 0) -> float:
    """The two-sided p-value of no difference between the means of two values (b,) of the same instances, by flipping signs.

    Were neither better, each instance's difference would have come with the other sign as easily. Few instances are flipped in every
    way, more at random; then p is at least 1 / (resamples + 1). Instances of which either value is NaN are left out.

    Reference: Fisher, The Design of Experiments, 1935, section 21; Phipson and Smyth, Permutation P-values should never be zero, 2010.
    """
    refuse_unpaired(a, b)
    _refuse_unaveraged(a - b)
    check.counts(resamples=resamples)
    difference = (a.double() - b.double()).detach().cpu().numpy()
    moved = np.abs(difference[~np.isnan(difference) & (difference != 0)])  # an instance without a difference flips to itself
    seen = abs(difference[~np.isnan(difference)].sum()) - 1e-9 * moved.sum()  # rounding must not tell equal sums apart
    n = len(moved)
    if 2**n <= resamples:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float((np.abs(signs @ moved) >= seen).mean())
    distinct, times = np.unique(moved, return_counts=True)
    rng, chunk = np.random.default_rng(seed), max(1, CELLS // len(distinct))
    as_far = 0
    for start in range(0, resamples, chunk):  # of equal differences, only how many flip matters
        plus = rng.binomial(times, 0.5, size=(min(chunk, resamples - start), len(distinct)))
        as_far += int((np.abs((2 * plus - times) @ distinct) >= seen).sum())
    return (as_far + 1) / (resamples + 1)


def holm(p_values: Tensor) -> Tensor:
    """Adjust p-values (m,) for having tested m things: to reject where they are below a level errs even once no more often than that.

    Reference: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    p_values = torch.as_tensor(p_values, dtype=torch.float64)
    if p_values.ndim != 1 or not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError(f"p-values are (tests,) numbers from 0 to 1, but {p_values.tolist()} was given; leave out what was not tested")
    order = p_values.argsort(stable=True)
    factors = torch.arange(len(p_values), 0, -1, dtype=torch.float64, device=p_values.device)
    adjusted = torch.empty_like(p_values)
    adjusted[order] = (factors * p_values[order]).clamp(max=1).cummax(0).values if len(p_values) else p_values
    return adjusted


def placement(values: Tensor, among: Tensor) -> Tensor:
    """Share of `among` (..., m) that lies below each of `values` (..., n), ties counting half; in O((n + m) log m)."""
    ordered, values = among.contiguous().sort(-1).values, values.contiguous()  # searchsorted warns of strides
    below = torch.searchsorted(ordered, values)
    not_above = torch.searchsorted(ordered, values, right=True)
    return (below + not_above).double() / (2 * among.shape[-1])


def pooled_auroc(scores: Tensor, positive: Tensor, valid: Tensor | None = None) -> Tensor:
    """AUROC over all cells, handed out to rows: the plain mean of the (..., b) values is the AUROC itself.

    A row's value is the AUROC plus b times its influence on it: how far its positive cells' placements among the negatives, and
    its negative cells' among the positives, lie from the AUROC. So a bootstrap over rows gives DeLong's interval, with the cells
    of a row kept together. Values may lie outside [0, 1]; all are NaN where no cell is positive or none is negative.

    Args:
        scores: (..., b, cells), higher meaning positive.
        positive: (b, cells) of bool.
        valid: (b, cells) of bool: cells that count; None: all.

    Reference: Obuchowski, Nonparametric analysis of clustered ROC curve data, 1997; for one cell a row, DeLong et al., 1988.
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
    apart = (placed - area[..., None, None]) / size
    influence = (apart if valid is None else torch.where(valid, apart, 0.0)).sum(-1)  # (..., b), sums to 0
    return area[..., None] + len(positive) * influence


# ---- scores as ranks ----


def without_padding(scores: Tensor, valid: Tensor | None) -> Tensor:
    """Scores (..., d) in which padding lies below everything else."""
    return scores if valid is None else scores.masked_fill(~valid, -torch.inf)


def scores_of_rows(scores: Tensor, x: Tensor, count: int) -> Tensor:
    """Return scores; refuse those that are not one for each row and feature."""
    if scores.shape != (len(x), count) or scores.isnan().any():
        raise ValueError(
            f"scores of shape {tuple(scores.shape)} do not fit {len(x)} rows of {count} features; "
            "give one score, not NaN, for each feature of each row: (rows, features)"
        )
    return scores


def positions(scores: Tensor, generator: Generator | None = None, valid: Tensor | None = None) -> Tensor:
    """The place (..., d) of each feature by descending score, 0 being the first; tied features change places at random, padding is last.

    So that being first in the table is worth nothing where scores are zeros and ones.
    """
    scores = without_padding(scores, valid)
    shuffle = torch.rand(scores.shape, generator=generator, device=scores.device).argsort(-1)
    order = shuffle.gather(-1, scores.gather(-1, shuffle).argsort(dim=-1, descending=True, stable=True))  # the features, best first
    return order.argsort(-1)  # a permutation's inverse


def centred_ranks(scores: Tensor, valid: Tensor | None = None) -> Tensor:
    """Ranks (..., d) of mean 0 and length 1, tied scores sharing theirs and padding having none; NaN where all scores are equal.

    The inner product of two is Spearman's rank correlation.
    """
    if valid is None:
        ranks = placement(scores, scores)
        centred = ranks - ranks.mean(-1, keepdim=True)
    else:
        lowest = without_padding(scores, valid)  # padding shifts all other ranks of a row alike
        ranks = torch.where(valid, placement(lowest, lowest), 0.0)
        centred = torch.where(valid, ranks - ranks.sum(-1, keepdim=True) / valid.sum(-1, keepdim=True), 0.0)
    length: Tensor = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
    return centred / length
