"""Against the features that really decide, where these are known."""

from __future__ import annotations

from functools import partial

from torch import Tensor

from ...metrics.metric import Metric
from ...metrics.truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr
from ..evidence import Evidence
from ..measure import Measure, of_metric

GROUP = "truth"


def _truth(evidence: Evidence) -> Tensor:
    assert evidence.truth is not None  # `needs` says so
    return evidence.truth


def _control_flow(evidence: Evidence) -> Tensor:
    assert evidence.control_flow is not None
    return cfsr(evidence.mask, evidence.control_flow)


def _of_mask(metric: Metric, evidence: Evidence) -> Tensor:
    return metric(evidence.mask, _truth(evidence))


def _fpr(evidence: Evidence) -> Tensor:
    return fpr(evidence.mask, _truth(evidence), evidence.valid)


def _auroc(evidence: Evidence) -> Tensor:
    return auroc_against_truth(evidence.sizes, _truth(evidence), evidence.valid)


def _median_rank(evidence: Evidence) -> Tensor:
    return median_rank(evidence.sizes, _truth(evidence), evidence.draws(), evidence.valid)


TRUTH: list[Measure] = [
    of_metric("tpr", tpr, partial(_of_mask, tpr), needs=("truth",), group=GROUP, taken="always"),
    of_metric("fpr", fpr, _fpr, needs=("truth",), group=GROUP, taken="always"),
    of_metric("fdr", fdr, partial(_of_mask, fdr), needs=("truth",), group=GROUP, taken="always"),
    of_metric("truth_auroc", auroc_against_truth, _auroc, needs=("truth",), group=GROUP, taken="always"),
    of_metric("median_rank", median_rank, _median_rank, needs=("truth",), group=GROUP, taken="always"),
    of_metric("cfsr", cfsr, _control_flow, needs=("control flow",), group=GROUP, taken="always"),
]
