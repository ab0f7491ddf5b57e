"""Honesty: how much the choice of a mask reveals about the target."""

from __future__ import annotations

import torch
from torch import Tensor

from .. import check
from ..core import target_values
from ..evaluation import Evaluation
from .measure import measure


@measure(
    "mask_only_acc",
    label="Mask-only ACC",
    better=False,
    description="accuracy from the masks alone, without values; well above the share of the largest class, masks may encode the target",
    needs=("classes", "masks"),
    percent=True,
    group="honesty",
    included="always",
)
def mask_only_acc(evaluation: Evaluation) -> Tensor:
    """1 for rows where a forest trained on other rows' masks predicts the class."""
    values = torch.zeros(len(evaluation.rows), dtype=torch.double)
    for learn, mask, _, index in evaluation.folds:
        train_labels, labels = (target_values(rows.target).argmax(1) for rows in (learn, evaluation.rows.take(index)))
        values[index] = mask_only_accuracy(mask, train_labels, evaluation.mask[index], labels)
    return values


def mask_only_accuracy(train_mask: Tensor, train_labels: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
    """1 for rows where a forest predicts the label from the mask alone, without values.

    Randomised trees use interactions between features of the mask and features that are rarely kept; boosting misses the latter. On
    masks without information their accuracy is a few points below the share of the largest class.

    Args:
        train_mask: Masks (n, d) of the training rows.
        train_labels: Labels (n,) of the training rows.
        mask: Masks (b, d) of the rows to evaluate.
        labels: Labels (b,) of the rows to evaluate.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 3.1 (encoding).
    """
    from sklearn.ensemble import ExtraTreesClassifier

    train_mask, mask = check.hard_mask(train_mask), check.hard_mask(mask)
    fits = train_mask.ndim == mask.ndim == 2 and train_mask.shape[1] == mask.shape[1] and len(train_mask) > 0 and len(mask) > 0
    if not fits or train_labels.shape != train_mask.shape[:1] or labels.shape != mask.shape[:1]:
        raise ValueError(
            f"Masks of shapes {tuple(train_mask.shape)} and {tuple(mask.shape)} do not fit labels of shapes {tuple(train_labels.shape)} "
            f"and {tuple(labels.shape)}. Pass masks (rows, features) with the same features, and one label per row."
        )
    forest = ExtraTreesClassifier(n_estimators=50, min_samples_leaf=2, random_state=0)
    forest.fit(train_mask.cpu().numpy(), train_labels.cpu().numpy())
    right = forest.predict(mask.cpu().numpy()) == labels.cpu().numpy()
    return torch.as_tensor(right, dtype=torch.float64, device=mask.device)


@measure(
    "encoding",
    label="Encoding",
    better=False,
    description="nats that the choice of features reveals about the target beyond their values; 0 is honest",
    reads=("encoding",),
    needs=("masks",),
    group="honesty",
    included="always",
    needs_evaluator=True,
)
def encoding(values: Tensor) -> Tensor:
    """Difference (b,) between the log-likelihoods of the mask-aware and the mask-agnostic reader."""
    return values
