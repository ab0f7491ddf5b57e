"""Comparison of masks and scores with the ground truth.

Masks and scores are (b, d), or (samples, b, d) for several samples per row; the truth is (b, d) of bool. Each measure returns one
number per row (and sample). Average over samples first, as in the LEX paper, then over rows.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from .. import check
from .measure import measure
from .statistics import pooled_auroc, positions

INCLUDED = {"needs": ("truth",), "group": "truth", "included": "always"}
RATE = {**INCLUDED, "percent": True}


@measure(
    "tpr",
    label="TPR",
    better=True,
    description="share of the true features that are kept; 1 finds them all",
    reads=("mask", "truth"),
    **RATE,
)
def tpr(mask: Tensor, truth: Tensor) -> Tensor:
    """Share of the true features that the mask keeps. NaN for rows without true features.

    Reference: Senetaire et al., Explainability as statistical inference, 2023, section 4.
    """
    mask, truth = check.mask_against_truth(mask, truth)
    return (mask & truth).sum(-1).double() / truth.sum(-1)


@measure(
    "fpr",
    label="FPR",
    better=False,
    description="share of the irrelevant features that are kept; 0 keeps none",
    reads=("mask", "truth", "valid"),
    **RATE,
)
def fpr(mask: Tensor, truth: Tensor, valid: Tensor | None = None) -> Tensor:
    """Share of the irrelevant features that the mask keeps, without padding. NaN for rows where all features are true.

    Reference: Senetaire et al., Explainability as statistical inference, 2023, section 4.
    """
    mask, truth = check.mask_against_truth(mask, truth)
    irrelevant = ~truth if valid is None else ~truth & valid
    return (mask & irrelevant).sum(-1).double() / irrelevant.sum(-1)


@measure(
    "fdr",
    label="FDR",
    better=False,
    description="share of the kept features that are irrelevant; 0 is a clean selection",
    reads=("mask", "truth"),
    **RATE,
)
def fdr(mask: Tensor, truth: Tensor) -> Tensor:
    """Share of the kept features that are irrelevant. 0 for an empty mask; `empty` counts these.

    Reference: Senetaire et al., Explainability as statistical inference, 2023, section 4.
    """
    mask, truth = check.mask_against_truth(mask, truth)
    return (mask & ~truth).sum(-1).double() / mask.sum(-1).clamp(min=1)


@measure(
    "cfsr",
    label="CFSR",
    better=True,
    description="share of rows that keep the control-flow feature; 1 is always",
    percent=True,
    reads=("mask", "control_flow"),
    needs=("control flow",),
    group="truth",
    included="always",
)
def cfsr(mask: Tensor, column: int) -> Tensor:
    """1 for rows that keep the control-flow feature. Columns count from 0: feature 11 of S1-S3 is column 10.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 6.3.
    """
    return check.hard_mask(mask)[..., column].double()


def _checked(scores: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return scores, and the truth as bool. Raises if they do not fit or cannot be ranked."""
    unknown = scores.isnan()
    _, truth = check.mask_against_truth(unknown, truth)
    if unknown.any():
        raise ValueError("Some scores are NaN, which cannot be ranked. Replace them by a number, such as 0.")
    return scores, truth


@measure(
    "truth_auroc",
    label="AUROC of scores",
    better=True,
    description="probability that a true feature scores higher than an irrelevant one; 0.5 is guessing",
    reads=("importance", "truth", "valid"),
    **INCLUDED,
)
def auroc_against_truth(scores: Tensor, truth: Tensor, valid: Tensor | None = None) -> Tensor:
    """AUROC of the scores against the truth over all valid features, as values per row whose plain mean is the AUROC.

    Values of single rows can be outside [0, 1]. They are NaN if no feature is true, or all are.
    """
    return pooled_auroc(*_checked(scores, truth), valid)


@measure(
    "median_rank",
    label="Median rank",
    better=False,
    description="median rank of the true features by score; (k + 1) / 2 is perfect for k of them",
    reads=("importance", "truth", "generator", "valid"),
    **INCLUDED,
)
def median_rank(scores: Tensor, truth: Tensor, generator: Generator | None = None, valid: Tensor | None = None) -> Tensor:
    """Median rank (1 = best) of a row's true features by descending score. NaN for rows without true features.

    Ties are ranked at random, separately per row, so that a constant score is no better than guessing. Padding is ranked last.

    Reference: Chen et al., Learning to Explain, 2018, section 4.1.
    """
    scores, truth = _checked(scores, truth)
    truth = truth.expand(scores.shape)
    places = positions(scores, generator, valid).masked_fill(~truth, scores.shape[-1]).sort(-1).values  # ranks of true features first
    count = truth.sum(-1, keepdim=True)
    middle = torch.cat([(count - 1).clamp(min=0) // 2, count // 2], -1)  # the middle one twice, or the two middle ones
    return torch.where(count.squeeze(-1) > 0, places.gather(-1, middle).double().mean(-1) + 1, torch.nan)
