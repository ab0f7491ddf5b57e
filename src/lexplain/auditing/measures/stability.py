"""Do like rows, or another fit, get like explanations, and does the explanation depend on what it explains?"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...evaluation import SOME, Evaluation
from ...metrics.sanity import mask_cosine
from ...metrics.sensitivity import sensitivity
from ...metrics.stability import mask_stability, rank_stability
from ..measure import Measure, of_metric

GROUP = "stability"


def _sensitivity(evaluation: Evaluation) -> Tensor:
    """The true maximum by which scores change within a small radius."""
    assert evaluation.questions.explain is not None  # `needs` says so
    x = evaluation.rows.x[evaluation.some[: SOME // 5]]
    return sensitivity(evaluation.questions.explain, x, max_rows=evaluation.run.max_rows, generator=evaluation.draws())


def _mask_stability(evaluation: Evaluation) -> Tensor:
    return mask_stability(torch.stack([e.mask for e in evaluation.refits]))


def _rank_stability(evaluation: Evaluation) -> Tensor:
    return rank_stability(torch.stack([e.scores for e in evaluation.refits]), evaluation.valid)


def _cosine(what: str, evaluation: Evaluation) -> Tensor:
    """How much of an explanation is left when what it explains is replaced by chance (Adebayo et al., 2018)."""
    assert evaluation.questions.refit is not None
    return mask_cosine(evaluation.mask, evaluation.questions.refit(evaluation.run.seed, what).mask)


STABILITY: list[Measure] = [
    of_metric(
        "sensitivity", sensitivity, _sensitivity, needs=("explainer", "quantities"), group=GROUP, family="robustness", taken="usually"
    ),
    of_metric(
        "mask_stability",
        mask_stability,
        _mask_stability,
        needs=("refit",),
        group=GROUP,
        family="stability",
    ),
    of_metric(
        "rank_stability",
        rank_stability,
        _rank_stability,
        needs=("refit",),
        group=GROUP,
        family="stability",
    ),
    *(
        of_metric(
            f"mask_cosine_random_{what}",
            mask_cosine,
            partial(_cosine, what),
            label=f"Mask cosine, random {what}",
            needs=("refit", f"random {what}"),
            group="sanity",
            family="sanity",
        )
        for what in ("model", "labels")
    ),
]
