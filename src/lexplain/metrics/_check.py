"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from .. import check


def scores_against_truth(scores: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return scores and the truth as bool; refuse them where rows or features differ, or where scores cannot be ranked."""
    unknown = scores.isnan()
    _, truth = check.mask_against_truth(unknown, truth)
    if unknown.any():
        raise ValueError("some scores are NaN, which cannot be ranked; give every feature a score, such as 0")
    return scores, truth


def probabilities_and_labels(probabilities: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return probabilities and labels as class indices; refuse those that do not fit."""
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


def masks_and_labels(train_mask: Tensor, train_labels: Tensor, mask: Tensor, labels: Tensor) -> None:
    """Refuse masks of differing features, or labels that do not belong to them."""
    fits = train_mask.ndim == mask.ndim == 2 and train_mask.shape[1] == mask.shape[1] and len(train_mask) > 0 and len(mask) > 0
    if not fits or train_labels.shape != train_mask.shape[:1] or labels.shape != mask.shape[:1]:
        raise ValueError(
            f"masks of shapes {tuple(train_mask.shape)} and {tuple(mask.shape)} with labels of shapes {tuple(train_labels.shape)} and "
            f"{tuple(labels.shape)} do not fit; (rows, features) with the same features, and one label a row, are needed"
        )


def values_to_average(values: Tensor) -> None:
    """Refuse what holds not one number per instance, or an infinite one."""
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"values of shape {tuple(values.shape)} cannot be averaged; one number an instance, (rows,), is needed")
    if values.isinf().any():
        raise ValueError("some values are infinite, so their mean is too; bound them, or set them to NaN to leave these instances out")


def paired(a: Tensor, b: Tensor) -> None:
    """Refuse to pair values of different instances."""
    if a.shape != b.shape:
        raise ValueError(f"values of shapes {tuple(a.shape)} and {tuple(b.shape)} cannot be paired; measure both on the same rows")


def interval(level: float, resamples: int) -> None:
    """Refuse a level that is no probability, or too few resamples."""
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(f"level={level} and resamples={resamples}, but a level between 0 and 1 and at least one resample are needed")


def several_seeds(values: Tensor) -> Tensor:
    """Return values of several fits; refuse those of one, or of another shape."""
    if values.ndim != 3 or len(values) < 2:
        raise ValueError(f"values of shape {tuple(values.shape)} are not of several seeds; stack at least two: (seeds, rows, features)")
    return values


def probability_values(values: Tensor) -> Tensor:
    """Return p-values in double precision; refuse those that are none."""
    values = torch.as_tensor(values, dtype=torch.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p-values are (tests,) numbers from 0 to 1, but {values.tolist()} was given; leave out what was not tested")
    return values


def classes_to_agree_on(said: Tensor) -> Tensor:
    """Return what a model says (rows, classes); refuse values, on which two models never name the same class."""
    if said.ndim != 2 or said.shape[1] < 2:
        raise ValueError(
            f"the model says values of shape {tuple(said.shape)}, but agreement needs probabilities (rows, classes) of several classes; "
            "for a real-valued model use infidelity, or the area under the insertion curve"
        )
    return said


def scores_of_rows(scores: Tensor, x: Tensor, count: int) -> Tensor:
    """Return scores; refuse those that are not one for each row and feature."""
    if scores.shape != (len(x), count) or scores.isnan().any():
        raise ValueError(
            f"scores of shape {tuple(scores.shape)} do not fit {len(x)} rows of {count} features; "
            "give one score, not NaN, for each feature of each row: (rows, features)"
        )
    return scores


def shares(values: Sequence[float]) -> None:
    """Refuse shares that do not rise, or that lie outside 0 to 1."""
    rising = all(a < b for a, b in pairwise(values))
    if len(values) < 2 or not rising or values[0] < 0 or values[-1] > 1:
        raise ValueError(f"fractions={tuple(values)}, but at least two that rise from 0 or more to 1 or less are needed")


def rows_to_tell_apart(filled: Tensor, real: Tensor, folds: int) -> None:
    """Refuse rows of differing shape, or too few for each fold to hold some of both."""
    if filled.shape[1:] != real.shape[1:] or folds < 2 or min(len(filled), len(real)) < folds:
        raise ValueError(
            f"filled rows of shape {tuple(filled.shape)} and real ones of shape {tuple(real.shape)} in folds={folds}, "
            "but rows of one shape, two folds or more, and at least as many rows of each kind as folds are needed"
        )
