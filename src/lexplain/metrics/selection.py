"""What can be said of a mask by itself: how much it keeps, and whether it alone gives the answer away."""

from __future__ import annotations

import torch
from torch import Tensor

from lexplain import check

from .metric import metric


@metric(label="Selection rate", higher_is_better=None, description="share of the features that are kept", percent=True)
def selection_rate(mask: Tensor, valid: Tensor | None = None) -> Tensor:
    """Share of the features that are kept, of the valid ones where padding is marked; NaN for a row that is all padding."""
    mask = check.hard_mask(mask)
    if valid is None:
        return mask.sum(-1).double() / mask.shape[-1]
    mask, valid = check.mask_against_truth(mask, valid)
    return (mask & valid).sum(-1).double() / valid.sum(-1)


@metric(label="Kept", higher_is_better=None, description="number of features that are kept")
def kept(mask: Tensor) -> Tensor:
    """Number of features that are kept."""
    return check.hard_mask(mask).sum(-1).double()


@metric(label="Empty", higher_is_better=False, description="share of rows for which nothing is kept", percent=True)
def empty(mask: Tensor) -> Tensor:
    """1 where nothing is kept."""
    return (~check.hard_mask(mask).any(-1)).double()


@metric(
    label="Mask-only ACC",
    higher_is_better=False,
    description="accuracy from the mask's shape alone; well above the commonest class's share, the mask may encode the answer",
    percent=True,
)
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
