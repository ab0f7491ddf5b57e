"""Stability: agreement of explanations from fits with other seeds, and with a randomised model or labels."""

from __future__ import annotations

from functools import partial

import torch
from torch import Generator, Tensor

from .. import check
from ..evaluation import Evaluation
from .measure import Measure, measure
from .statistics import centred_ranks, check_paired

REFIT = {"needs": ("refit",), "group": "stability", "family": "stability"}


def mask_stability(masks: Tensor) -> Tensor:
    """Mean Jaccard index over all pairs of masks (seeds, b, d) of the same rows. Two empty masks have an index of 1."""
    kept = check.hard_mask(_of_seeds(masks)).double()
    both = torch.einsum("sbd,tbd->bst", kept, kept)
    size = kept.sum(-1).T  # (b, seeds)
    union = size[:, :, None] + size[:, None, :] - both
    return _mean_of_pairs(torch.where(union > 0, both / union.clamp(min=1), 1.0))


def rank_stability(scores: Tensor, valid: Tensor | None = None) -> Tensor:
    """Mean Spearman rank correlation over all pairs of scores (seeds, b, d) of the same rows. NaN if all scores of a seed are equal."""
    ranks = centred_ranks(_of_seeds(scores), valid)
    return _mean_of_pairs(torch.einsum("sbd,tbd->bst", ranks, ranks)).clamp(-1, 1)


def _of_seeds(values: Tensor) -> Tensor:
    if values.ndim != 3 or len(values) < 2:
        raise ValueError(f"Values of shape {tuple(values.shape)} are not of several seeds. Stack at least two: (seeds, rows, features).")
    return values


def _mean_of_pairs(values: Tensor) -> Tensor:
    """Mean (b,) of values of pairs of seeds (b, s, s), with each pair once and no seed paired with itself."""
    first, second = torch.triu_indices(values.shape[1], values.shape[1], offset=1, device=values.device)
    return values[:, first, second].mean(-1)


def mask_cosine(mask: Tensor, other: Tensor) -> Tensor:
    """Cosine of two masks (b, d) of the same rows: |S and S'| / k if both keep k. Two empty masks have a cosine of 1.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (sanity checks).
    """
    mask, other = check.hard_mask(mask), check.hard_mask(other)
    check_paired(mask, other)
    sizes = mask.sum(-1) * other.sum(-1)
    shared = (mask & other).sum(-1).double() / sizes.clamp(min=1).double().sqrt()
    return torch.where(mask.any(-1) | other.any(-1), shared, 1.0)


def permute_labels(labels: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Labels (n, ...) in random order.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 4 (data randomisation).
    """
    return labels[torch.randperm(len(labels), generator=generator).to(labels.device)]


@measure(
    "mask_stability",
    label="Mask stability",
    better=True,
    description="share of the features kept by either of two seeds that both keep; 1 is always the same selection",
    **REFIT,
)
def stability_of_masks(evaluation: Evaluation) -> Tensor:
    """Stability of the masks, between the explanation and those of fits with other seeds."""
    return mask_stability(torch.stack([e.mask for e in evaluation.refits]))


@measure(
    "rank_stability",
    label="Rank stability",
    better=True,
    description="rank correlation of two seeds' scores; 1 is always the same order, 0 is chance",
    **REFIT,
)
def stability_of_ranks(evaluation: Evaluation) -> Tensor:
    """Stability of the masks, between the explanation and those of fits with other seeds."""
    return rank_stability(torch.stack([e.scores for e in evaluation.refits]), evaluation.valid)


def _cosine(what: str, evaluation: Evaluation) -> Tensor:
    """Cosine with the mask of a fit to a randomised model or labels (Adebayo et al., 2018)."""
    assert evaluation.callables.refit is not None  # a need of the measure
    return mask_cosine(evaluation.mask, evaluation.callables.refit(evaluation.run.seed, what).mask)


COSINES = tuple(
    Measure(
        f"mask_cosine_random_{what}",
        f"Mask cosine, random {what}",
        partial(_cosine, what),
        higher_is_better=False,
        description=(
            "overlap with the mask of a randomised model; the share of features kept is chance, 1 means that the model does not matter"
        ),
        needs=("refit", f"random {what}"),
        group="sanity",
        family="sanity",
    )
    for what in ("model", "labels")
)
