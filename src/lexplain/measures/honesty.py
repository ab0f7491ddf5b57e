"""Does the choice of the mask give the answer away?"""

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
    description="accuracy from the mask's shape alone; well above the commonest class's share, the mask may encode the answer",
    needs=("classes", "masks"),
    percent=True,
    group="honesty",
    included="always",
)
def mask_only_acc(evaluation: Evaluation) -> Tensor:
    """1 where a forest that learned from other rows' masks names the class."""
    values = torch.zeros(len(evaluation.rows), dtype=torch.double)
    for learn, mask, _, at in evaluation.folds:
        theirs, own = (target_values(rows.target).argmax(1) for rows in (learn, evaluation.rows.take(at)))
        values[at] = mask_only_accuracy(mask, theirs, evaluation.mask[at], own)
    return values


def mask_only_accuracy(train_mask: Tensor, train_labels: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
    """1 where a forest that sees which features are kept, and no value of any, names the label.

    Randomised trees, because they read interactions between mask bits and bits that are rarely on; boosting passes over the latter.
    On masks that tell nothing they fall a few points below the commonest class's share.

    Args:
        train_mask: (n, d) masks of rows other than those judged.
        train_labels: (n,)
        mask: (b, d) masks of the rows judged.
        labels: (b,)

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 3.1 (encoding).
    """
    from sklearn.ensemble import ExtraTreesClassifier

    train_mask, mask = check.hard_mask(train_mask), check.hard_mask(mask)
    fits = train_mask.ndim == mask.ndim == 2 and train_mask.shape[1] == mask.shape[1] and len(train_mask) > 0 and len(mask) > 0
    if not fits or train_labels.shape != train_mask.shape[:1] or labels.shape != mask.shape[:1]:
        raise ValueError(
            f"masks of shapes {tuple(train_mask.shape)} and {tuple(mask.shape)} with labels of shapes {tuple(train_labels.shape)} and "
            f"{tuple(labels.shape)} do not fit; (rows, features) with the same features, and one label a row, are needed"
        )
    forest = ExtraTreesClassifier(n_estimators=50, min_samples_leaf=2, random_state=0)
    forest.fit(train_mask.cpu().numpy(), train_labels.cpu().numpy())
    right = forest.predict(mask.cpu().numpy()) == labels.cpu().numpy()
    return torch.as_tensor(right, dtype=torch.float64, device=mask.device)


@measure(
    "encoding",
    label="Encoding",
    better=False,
    description="nats that the choice of the mask tells about y beyond the values it shows; 0 is honest",
    reads=("encoding",),
    needs=("masks",),
    group="honesty",
    included="always",
    needs_evaluator=True,
)
def encoding(values: Tensor) -> Tensor:
    """How much better (b,) a reader who knows the mask was chosen for this row predicts y than one who does not."""
    return values
