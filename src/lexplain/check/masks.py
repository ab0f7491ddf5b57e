"""Masks, sizes and the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


def keep_or_penalty(keep: Any, penalty: Any, count: int) -> None:
    """Refuse a size that cannot be kept, or two ways of saying it."""
    if keep is not None and penalty is not None:
        raise ValueError(
            f"both keep={keep} and penalty={penalty} were given; give keep (how much to show) or penalty (its price), not both"
        )
    if penalty is not None and not (isinstance(penalty, (int, float, np.integer, np.floating)) and math.isfinite(penalty) and penalty >= 0):
        raise ValueError(f"penalty={penalty!r}, but a finite number of at least 0 is needed (the price of keeping every feature)")
    if keep is None or (isinstance(keep, str) and keep == "auto"):
        return
    if isinstance(keep, bool) or not isinstance(keep, (int, float, np.integer, np.floating)):
        raise ValueError(f"keep={keep!r}, but a number of features (1 to {count - 1}), a rate between 0 and 1, or 'auto' is needed")
    if isinstance(keep, (int, np.integer)) and not 1 <= keep < count:
        raise ValueError(f"keep={keep}, but of {count} features 1 to {count - 1} can be kept; keeping all of them explains nothing")
    if isinstance(keep, (float, np.floating)) and not 0 < keep < 1:
        raise ValueError(f"keep={keep}, but a rate lies between 0 and 1; for a number of features give a whole number")


def hard_mask(mask: Tensor) -> Tensor:
    """Return a mask as bool; refuse one that holds other values than 0 and 1."""
    if mask.dtype is not torch.bool and not ((mask == 0) | (mask == 1)).all():
        raise ValueError("a mask of 0 and 1 is needed, but this one holds other values; threshold it first, such as mask > 0.5")
    return mask.bool()


def mask_against_truth(mask: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return a mask and the truth as bool; refuse them where rows or features differ."""
    if truth.ndim != 2 or mask.shape[-2:] != truth.shape:
        raise ValueError(
            f"values of shape {tuple(mask.shape)} do not fit a truth of shape {tuple(truth.shape)}; "
            "the truth must be (rows, features), and the values the same or (samples, rows, features)"
        )
    return hard_mask(mask), hard_mask(truth)


class NoBase:
    """Stands where shap looks for the value that scores add up from, and refuses to be one: the wording of that refusal."""

    shape = ()  # shap takes a mean of rows for one that has lost its base values

    def __init__(self, method: str) -> None:
        self.method = method

    def __repr__(self) -> str:
        return "none: these scores do not add up to a prediction"

    def __float__(self) -> float:
        raise ValueError(
            f"the scores of {self.method or 'this method'} say what matters, not how far each feature moves the prediction: they add up to "
            "nothing, so that waterfall and force plots would mislead; use beeswarm, bar or scatter plots, or an additive method"
        )

    def __radd__(self, other: Any) -> Any:  # shap's force plots add the scores up before they look
        return other + float(self)

    def __add__(self, other: Any) -> NoBase:  # shap computes with explanations, such as e * 2, base values and all
        return self

    __sub__ = __mul__ = __truediv__ = __add__


def mask_of_rows(mask: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a mask as bool, in the shape of the rows it belongs to; refuse one that has no such shape, or other values than 0 and 1."""
    try:
        return hard_mask(mask).expand(*shape)
    except RuntimeError:
        raise ValueError(f"the mask has shape {tuple(mask.shape)}, but these rows need {tuple(shape)}, 1 where they are visible") from None


def kept_features(keep: Any, count: int) -> int:
    """Return how many features a baseline keeps, half of them unless told; refuse what is no number of features."""
    if keep is None:
        return (count + 1) // 2
    if isinstance(keep, bool) or not isinstance(keep, (int, np.integer)) or not 1 <= keep <= count:
        raise ValueError(f"keep={keep!r}, but a baseline keeps a whole number of features, 1 to {count}")
    return int(keep)


def same_features(got: int, needed: int) -> None:
    """Refuse to compare an explanation of other features than the data set's."""
    if got != needed:
        raise ValueError(f"the explanation has {got} features, but the data set's judge knows {needed}; give both the same features")
