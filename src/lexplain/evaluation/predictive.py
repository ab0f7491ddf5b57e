"""How well class probabilities meet labels, or another model's probabilities: one number per instance."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from lexplain import check

from .metric import metric
from .statistics import pooled_auroc


@metric(label="ACC", higher_is_better=True, reads="share of rows whose likeliest class is the label", percent=True)
def accuracy(probabilities: Tensor, labels: Tensor) -> Tensor:
    """1 where the likeliest class is the label."""
    probabilities, labels = check.probabilities_and_labels(probabilities, labels)
    return (probabilities.argmax(-1) == labels).double()


@metric(label="AUROC", higher_is_better=True, reads="chance that a true class gets more probability than a false one; 0.5 is guessing")
def auroc(probabilities: Tensor, labels: Tensor) -> Tensor:
    """AUROC of P(y = 1), or micro-averaged over more than two classes; the plain mean over rows is the AUROC itself.

    A single row's value is its part in that mean and may lie outside [0, 1]. NaN where two classes are possible and the labels hold
    one only.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 6.2 (eAUROC, when the probabilities are EVAL-X's).
    """
    probabilities, labels = check.probabilities_and_labels(probabilities, labels)
    truth = one_hot(labels, probabilities.shape[1]).bool()
    if probabilities.shape[1] == 2:
        return pooled_auroc(probabilities[:, 1:], truth[:, 1:])
    return pooled_auroc(probabilities, truth)


@metric(
    label="Log-likelihood",
    higher_is_better=True,
    reads="log probability of the label; 0 is certainty, minus log of the class count guessing",
)
def log_likelihood(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Log probability of the label, from no less than the dtype's rounding error, so that one sure mistake stays finite."""
    probabilities, labels = check.probabilities_and_labels(probabilities, labels)
    chosen = probabilities.gather(-1, labels[:, None]).squeeze(-1)
    return chosen.clamp(min=torch.finfo(probabilities.dtype).eps).double().log()


@metric(label="Agreement", higher_is_better=True, reads="share of rows on which two models name the same class", percent=True)
def agreement(probabilities: Tensor, other_probabilities: Tensor) -> Tensor:
    """1 where both name the same class: a model on the kept features against the same model on all of them.

    Reference: Chen et al., Learning to Explain, 2018, section 4.2.1 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M).
    """
    check.paired(probabilities, other_probabilities)
    return (probabilities.argmax(-1) == other_probabilities.argmax(-1)).double()
