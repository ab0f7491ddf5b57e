"""Do fits that differ in their seed alone explain the same rows alike, and does an explanation change when what it explains does?"""

from __future__ import annotations

from functools import partial

import torch
from torch import Generator, Tensor

from .. import check
from ..evaluation import Evaluation
from .measure import Measure, measure
from .statistics import centred_ranks, refuse_unpaired

REFIT = {"needs": ("refit",), "group": "stability", "family": "stability"}


def mask_stability(masks: Tensor) -> Tensor:
    """Mean Jaccard index over all pairs of masks (seeds, b, d) of the same rows; two empty masks are alike, 1."""
    on = check.hard_mask(_of_seeds(masks)).double()
    both = torch.einsum("sbd,tbd->bst", on, on)
    size = on.sum(-1).T  # (b, seeds)
    either = size[:, :, None] + size[:, None, :] - both
    return _mean_of_pairs(torch.where(either > 0, both / either.clamp(min=1), 1.0))


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


def mask_cosine(mask: Tensor, other: Tensor) -> Tensor:
    """Cosine of two masks (b, d) of the same rows: |S and S'| / k where both keep k. Two empty masks are alike, 1.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (sanity checks).
    """
    mask, other = check.hard_mask(mask), check.hard_mask(other)
    refuse_unpaired(mask, other)
    sizes = mask.sum(-1) * other.sum(-1)
    shared = (mask & other).sum(-1).double() / sizes.clamp(min=1).double().sqrt()
    return torch.where(mask.any(-1) | other.any(-1), shared, 1.0)


def permute_labels(labels: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Labels (n, ...) dealt out to rows at random: as many of each, and none about its row.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 4 (data randomisation).
    """
    return labels[torch.randperm(len(labels), generator=generator).to(labels.device)]


@measure(
    "mask_stability",
    label="Mask stability",
    better=True,
    description="share of the features kept by either of two seeds that both keep; 1 is the same selection every time",
    **REFIT,
)
def stability_of_masks(evaluation: Evaluation) -> Tensor:
    """Of the explanation and those of fits with other seeds."""
    return mask_stability(torch.stack([e.mask for e in evaluation.refits]))


@measure(
    "rank_stability",
    label="Rank stability",
    better=True,
    description="rank correlation of two seeds' scores; 1 is the same order every time, 0 is chance",
    **REFIT,
)
def stability_of_ranks(evaluation: Evaluation) -> Tensor:
    """Of the explanation and those of fits with other seeds."""
    return rank_stability(torch.stack([e.scores for e in evaluation.refits]), evaluation.valid)


def _cosine(what: str, evaluation: Evaluation) -> Tensor:
    """How much of an explanation is left when what it explains is replaced by chance (Adebayo et al., 2018)."""
    assert evaluation.callables.refit is not None  # `needs` says so
    return mask_cosine(evaluation.mask, evaluation.callables.refit(evaluation.run.seed, what).mask)


COSINES = tuple(
    Measure(
        f"mask_cosine_random_{what}",
        f"Mask cosine, random {what}",
        partial(_cosine, what),
        higher_is_better=False,
        description=(
            "overlap with the mask of a randomised model; the share of features kept is chance, 1 says that the model does not matter"
        ),
        needs=("refit", f"random {what}"),
        group="sanity",
        family="sanity",
    )
    for what in ("model", "labels")
)
