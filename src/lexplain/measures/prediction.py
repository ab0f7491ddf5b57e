"""How well classes are predicted: by the explanation's own predictor, by judges who see what is kept, and from all features."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .measure import Measure, measure
from .statistics import pooled_auroc, refuse_unpaired

BY_JUDGE = "by a judge who sees what is kept alone: "
OWN = {"reads": ("own_prediction", "labels"), "needs": ("classes", "own prediction"), "group": "prediction", "included": "always"}


def _checked(probabilities: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return probabilities, and labels as class indices; refuse those that do not fit."""
    if probabilities.ndim != 2 or probabilities.shape[1] < 2 or labels.shape != probabilities.shape[:1] or len(labels) == 0:
        raise ValueError(
            f"probabilities of shape {tuple(probabilities.shape)} and labels of shape {tuple(labels.shape)} do not fit; "
            "(rows, classes) of at least one row and two classes, and (rows,) are needed"
        )
    if probabilities.isnan().any():
        raise ValueError("some probabilities are NaN; mend the model, or drop those rows")
    index = labels.long()
    if (index != labels).any() or index.min() < 0 or index.max() >= probabilities.shape[1]:
        raise ValueError(f"labels must be class indices from 0 to {probabilities.shape[1] - 1}, as the probabilities' columns; encode them")
    return probabilities, index


@measure("acc", label="ACC", better=True, description="share of rows whose likeliest class is the label", percent=True, **OWN)
def accuracy(probabilities: Tensor, labels: Tensor) -> Tensor:
    """1 where the likeliest class is the label."""
    probabilities, labels = _checked(probabilities, labels)
    return (probabilities.argmax(-1) == labels).double()


@measure(
    "auroc",
    label="AUROC",
    better=True,
    description="chance that a true class gets more probability than a false one; 0.5 is guessing",
    **OWN,
)
def auroc(probabilities: Tensor, labels: Tensor) -> Tensor:
    """AUROC of P(y = 1), or micro-averaged over more than two classes; the plain mean over rows is the AUROC itself.

    A single row's value is its part in that mean and may lie outside [0, 1]. NaN where two classes are possible and the labels hold
    one only.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 6.2 (eAUROC, when the probabilities are EVAL-X's).
    """
    return pooled_auroc(*_cells(probabilities, labels))


@measure("auprc", label="AUPRC", better=True, description="average precision over all thresholds; the positives' share is guessing", **OWN)
def auprc(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Average precision of P(y = 1), or micro-averaged over more than two classes; the plain mean over rows is the average precision.

    A single row's value is the average precision plus b times the row's influence on it, and may lie outside [0, 1]. NaN where two
    classes are possible and no label is the second.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 6 (eAUPRC, when the probabilities are EVAL-X's).
    """
    return _pooled_precision(*_cells(probabilities, labels))


def _cells(probabilities: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Scores, and which are of the label: of the second of two classes alone, else of all."""
    probabilities, labels = _checked(probabilities, labels)
    truth, first = one_hot(labels, probabilities.shape[1]).bool(), int(probabilities.shape[1] == 2)
    return probabilities[:, first:], truth[:, first:]


def _pooled_precision(scores: Tensor, positive: Tensor) -> Tensor:
    """Average precision over all cells (b, cells), handed out to rows (b,) by their influence on it.

    With A and B the numbers of positives and of all cells that score no less than a cell, and P that of all positives, the average
    precision is the mean of A / B over positives. Weighing a cell up adds to P, and to A and B of the cells that score no more.
    """
    positive = positive.double()
    distinct, level = torch.unique(scores, return_inverse=True)  # ascending; (b, cells)
    weights = torch.stack([positive, torch.ones_like(positive)]).flatten(1)  # (2, b x cells)
    at = weights.new_zeros(2, len(distinct)).index_add(1, level.flatten(), weights)  # positives and all, by level of score
    hits, found = at.flip(1).cumsum(1).flip(1)  # A and B
    precision, total = hits / found, positive.sum()
    average = (at[0] * precision).sum() / total
    through_hits, through_found = (at[0] / found).cumsum(0), (at[0] * precision / found).cumsum(0)
    slope = positive * (precision[level] - average + through_hits[level]) - through_found[level]
    values: Tensor = average + len(scores) * slope.sum(1) / total
    return values


@measure(
    "log_likelihood",
    label="Log-likelihood",
    better=True,
    description="log probability of the label; 0 is certainty, minus log of the class count guessing",
    **{**OWN, "included": "on request"},
)
def log_likelihood(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Log probability of the label, from no less than the dtype's rounding error, so that one sure mistake stays finite."""
    probabilities, labels = _checked(probabilities, labels)
    chosen = probabilities.gather(-1, labels[:, None]).squeeze(-1)
    return chosen.clamp(min=torch.finfo(probabilities.dtype).eps).double().log()


def agreement(probabilities: Tensor, other_probabilities: Tensor) -> Tensor:
    """1 where both name the same class: a model on the kept features against the same model on all of them.

    Reference: Chen et al., Learning to Explain, 2018, section 4.2.1 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M).
    """
    refuse_unpaired(probabilities, other_probabilities)
    return (probabilities.argmax(-1) == other_probabilities.argmax(-1)).double()


def _by_judge(key: str, of: Measure, label: str, reads: str, *, prefix: str = BY_JUDGE) -> Measure:
    return of.variant(key, prefix=prefix, label=label, reads=(reads, "labels"), needs=("classes",), needs_evaluator=True)


BY_JUDGES = (
    *(_by_judge(f"e{of.key}", of, f"e{of.label}", "evaluator_prediction") for of in (accuracy, auroc, auprc)),
    _by_judge("e_log_likelihood", log_likelihood, "e-Log-likelihood", "evaluator_prediction"),
    *(_by_judge(f"e{of.key}_any_rate", of, f"e{of.label}, uniform rate", "uniform_rate_prediction") for of in (accuracy, auroc, auprc)),
    _by_judge("acc_all", accuracy, "ACC, all features", "full_prediction", prefix=""),
)
