"""Against the features that really decide, where these are known."""

from __future__ import annotations

from functools import partial

from torch import Tensor

from ...evaluation import Evaluation
from ...metrics.metric import Metric
from ...metrics.truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr
from ..measure import Measure, of_metric

GROUP = "truth"


def _truth(evaluation: Evaluation) -> Tensor:
    assert evaluation.truth is not None  # `needs` says so
    return evaluation.truth


def _control_flow(evaluation: Evaluation) -> Tensor:
    assert evaluation.control_flow is not None
    return cfsr(evaluation.mask, evaluation.control_flow)


def _of_mask(metric: Metric, evaluation: Evaluation) -> Tensor:
    return metric(evaluation.mask, _truth(evaluation))


def _fpr(evaluation: Evaluation) -> Tensor:
    return fpr(evaluation.mask, _truth(evaluation), evaluation.valid)


def _auroc(evaluation: Evaluation) -> Tensor:
    return auroc_against_truth(evaluation.sizes, _truth(evaluation), evaluation.valid)


def _median_rank(evaluation: Evaluation) -> Tensor:
    return median_rank(evaluation.sizes, _truth(evaluation), evaluation.draws(), evaluation.valid)


TRUTH: list[Measure] = [
    of_metric("tpr", tpr, partial(_of_mask, tpr), needs=("truth",), group=GROUP, taken="always"),
    of_metric("fpr", fpr, _fpr, needs=("truth",), group=GROUP, taken="always"),
    of_metric("fdr", fdr, partial(_of_mask, fdr), needs=("truth",), group=GROUP, taken="always"),
    of_metric("truth_auroc", auroc_against_truth, _auroc, needs=("truth",), group=GROUP, taken="always"),
    of_metric("median_rank", median_rank, _median_rank, needs=("truth",), group=GROUP, taken="always"),
    of_metric("cfsr", cfsr, _control_flow, needs=("control flow",), group=GROUP, taken="always"),
]
