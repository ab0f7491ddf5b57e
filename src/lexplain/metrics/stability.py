"""Do fits that differ in their seed alone explain the same rows alike?"""

from __future__ import annotations

import torch
from torch import Tensor

from .. import check
from .metric import metric
from .ranking import centred_ranks


@metric(
    label="Mask stability",
    higher_is_better=True,
    description="share of the features kept by either of two seeds that both keep; 1 is the same selection every time",
)
def mask_stability(masks: Tensor) -> Tensor:
    """Mean Jaccard index over all pairs of masks (seeds, b, d) of the same rows; two empty masks are alike, 1."""
    on = check.hard_mask(_of_seeds(masks)).double()
    both = torch.einsum("sbd,tbd->bst", on, on)
    size = on.sum(-1).T  # (b, seeds)
    either = size[:, :, None] + size[:, None, :] - both
    return _mean_of_pairs(torch.where(either > 0, both / either.clamp(min=1), 1.0))


@metric(
    label="Rank stability",
    higher_is_better=True,
    description="rank correlation of two seeds' scores; 1 is the same order every time, 0 is chance",
)
def rank_stability(scores: Tensor, valid: Tensor | None = None) -> Tensor:
    """Mean Spearman rank correlation over all pairs of scores (seeds, b, d) of the same rows; NaN where a seed scores all the same."""
    ranks = centred_ranks(_of_seeds(scores), valid)
    return _mean_of_pairs(torch.einsum("sbd,tbd->bst", ranks, ranks)).clamp(-1, 1)


def _of_seeds(values: Tensor) -> Tensor:
    if values.ndim != 3 or len(values) < 2:
        raise ValueError(f"values of shape {tuple(values.shape)} are not of several seeds; stack at least two: (seeds, rows, features)")
    return values


def _mean_of_pairs(values: Tensor) -> Tensor:
    """The mean (b,) of what pairs of seeds (b, s, s) have in common, each pair once and none with itself."""
    first, second = torch.triu_indices(values.shape[1], values.shape[1], offset=1, device=values.device)
    return values[:, first, second].mean(-1)
