"""Quality of predictions: of the explanation's own predictor, of evaluators from the kept features, and from all features."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .measure import Measure, measure
from .statistics import check_paired, pooled_auroc

BY_JUDGE = "evaluator, from the kept features: "
OWN = {"reads": ("own_prediction", "labels"), "needs": ("classes", "own prediction"), "group": "prediction", "included": "always"}


def _checked(probabilities: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return probabilities, and labels as class indices. Raises if they do not fit."""
    if probabilities.ndim != 2 or probabilities.shape[1] < 2 or labels.shape != probabilities.shape[:1] or len(labels) == 0:
        raise ValueError(
            f"Probabilities of shape {tuple(probabilities.shape)} and labels of shape {tuple(labels.shape)} do not fit. "
            "Pass (rows, classes) with at least one row and two classes, and (rows,)."
        )
    if probabilities.isnan().any():
        raise ValueError("Some probabilities are NaN. Fix the model, or drop those rows.")
    index = labels.long()
    if (index != labels).any() or index.min() < 0 or index.max() >= probabilities.shape[1]:
        raise ValueError(f"labels must be indices of the probabilities' columns, class indices from 0 to {probabilities.shape[1] - 1}.")
    return probabilities, index


@measure("acc", label="ACC", better=True, description="share of rows whose most probable class is the label", percent=True, **OWN)
def accuracy(probabilities: Tensor, labels: Tensor) -> Tensor:
    """1 for rows whose most probable class is the label."""
    probabilities, labels = _checked(probabilities, labels)
    return (probabilities.argmax(-1) == labels).double()


@measure(
    "auroc",
    label="AUROC",
    better=True,
    description="probability that a correct class has a higher score than a wrong one; 0.5 is guessing",
    **OWN,
)
def auroc(probabilities: Tensor, labels: Tensor) -> Tensor:
    """AUROC of P(y = 1), or micro-averaged over more than two classes, as values per row whose plain mean is the AUROC.

    Values of single rows can be outside [0, 1]. They are NaN if there are two classes and only one occurs in the labels.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 6.2 (eAUROC, when the probabilities are EVAL-X's).
    """
    return pooled_auroc(*_cells(probabilities, labels))


@measure("auprc", label="AUPRC", better=True, description="average precision over thresholds; the share of positives is guessing", **OWN)
def auprc(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Average precision of P(y = 1), or micro-averaged over more than two classes, as values per row with that plain mean.

    A row's value is the average precision plus b times the row's influence on it, and can be outside [0, 1]. Values are NaN if there are
    two classes and the second does not occur in the labels.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 6 (eAUPRC, when the probabilities are EVAL-X's).
    """
    return _pooled_precision(*_cells(probabilities, labels))


def _cells(probabilities: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Scores, and whether each is that of the label. With two classes, only the second; otherwise all."""
    probabilities, labels = _checked(probabilities, labels)
    truth, first = one_hot(labels, probabilities.shape[1]).bool(), int(probabilities.shape[1] == 2)
    return probabilities[:, first:], truth[:, first:]


def _pooled_precision(scores: Tensor, positive: Tensor) -> Tensor:
    """Average precision over all entries (b, entries), as values per row (b,) by each row's influence.

    For an entry, A and B are the numbers of positives and of all entries with at least its score. The average precision is the mean of
    A / B over the P positives. More weight on an entry adds to P, and to A and B of entries with at most its score.
    """
    positive = positive.double()
    distinct, level = torch.unique(scores, return_inverse=True)  # ascending; (b, cells)
    weights = torch.stack([positive, torch.ones_like(positive)]).flatten(1)  # (2, b x cells)
    counts = weights.new_zeros(2, len(distinct)).index_add(1, level.flatten(), weights)  # positives and all entries, per distinct score
    hits, total_above = counts.flip(1).cumsum(1).flip(1)  # A and B
    precision, total = hits / total_above, positive.sum()
    average = (counts[0] * precision).sum() / total
    sum_hits, sum_total = (counts[0] / total_above).cumsum(0), (counts[0] * precision / total_above).cumsum(0)
    influence = positive * (precision[level] - average + sum_hits[level]) - sum_total[level]
    values: Tensor = average + len(scores) * influence.sum(1) / total
    return values


@measure(
    "log_likelihood",
    label="Log-likelihood",
    better=True,
    description="log probability of the label; 0 is certainty, minus the log of the number of classes is guessing",
    **{**OWN, "included": "on request"},
)
def log_likelihood(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Log probability of the label. Probabilities are clipped at the rounding error of their dtype, so that results are finite."""
    probabilities, labels = _checked(probabilities, labels)
    of_label = probabilities.gather(-1, labels[:, None]).squeeze(-1)
    return of_label.clamp(min=torch.finfo(probabilities.dtype).eps).double().log()


def agreement(probabilities: Tensor, other_probabilities: Tensor) -> Tensor:
    """1 for rows with the same most probable class, such as those of a model on kept features and on all features.

    Reference: Chen et al., Learning to Explain, 2018, section 4.2.1 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M).
    """
    check_paired(probabilities, other_probabilities)
    return (probabilities.argmax(-1) == other_probabilities.argmax(-1)).double()


def _by_evaluator(key: str, of: Measure, label: str, reads: str, *, prefix: str = BY_JUDGE) -> Measure:
    return of.variant(key, prefix=prefix, label=label, reads=(reads, "labels"), needs=("classes",), needs_evaluator=True)


BY_EVALUATORS = (
    *(_by_evaluator(f"e{of.key}", of, f"e{of.label}", "evaluator_prediction") for of in (accuracy, auroc, auprc)),
    _by_evaluator("e_log_likelihood", log_likelihood, "e-Log-likelihood", "evaluator_prediction"),
    *(_by_evaluator(f"e{of.key}_any_rate", of, f"e{of.label}, uniform rate", "uniform_rate_prediction") for of in (accuracy, auroc, auprc)),
    _by_evaluator("acc_all", accuracy, "ACC, all features", "full_prediction", prefix=""),
)
