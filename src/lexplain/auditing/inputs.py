"""What an audit was given: the same classes for all rows, and one class explained of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check
from ..core import Explanation, Trial, as_target
from ..predictors import Target, from_labels, from_model
from .as_explanation import adopt, classes_explained


@dataclass(frozen=True)
class OneClass:
    """Turn what any tool returned of rows into an explanation of one class of each."""

    classes: np.ndarray | None  # (c,) labels, in the order of the model's outputs; None for real values
    keep: float | None  # of scores, how many features of a row count as kept
    label: Any = None  # of the class meant on all rows; None: the one that the model predicts
    says: Callable[[Any], Any] | None = None  # raw rows to class probabilities; None: there is no model

    def __call__(self, explanation: Any, X: Any, *, target: Any = None, said: Tensor | None = None) -> Explanation:
        """The explanation of one class a row.

        Args:
            explanation: what the tool returned.
            X: the rows explained.
            target: the class meant, one label or (n,); None: the label for all, else of several classes the one that the model predicts.
            said: (n, c) what the model says of the rows, where it is known; None: it is asked.
        """
        target, several = self.label if target is None else target, classes_explained(explanation, X)
        index: np.ndarray | None = None
        if target is not None:
            index = check.class_to_audit(target, self.classes, len(X), several)
        elif several is not None:
            index = self._predicted(X, several, said)
        if isinstance(explanation, Explanation):
            ours = adopt(explanation, X)
            return ours if index is None else replace(ours, asked=torch.from_numpy(check.class_explained(index, ours.asked)))
        return adopt(explanation, X, keep=self.keep, target=index)

    def _predicted(self, X: Any, several: Sequence[int], said: Tensor | None) -> np.ndarray:
        ask = check.says_which_class(self.says, self.classes, several)
        answer = ask(X) if said is None else said
        values = check.as_array(answer)
        best: np.ndarray = values.argmax(1)
        return best


def every_row(X: Any, train: tuple[Any, ...] | None) -> Any:
    """The rows that an encoding has to fit: a table's categories may be in one part alone."""
    return pd.concat([train[0], X]) if train is not None and isinstance(X, pd.DataFrame) and isinstance(train[0], pd.DataFrame) else X


def every_class(explanation: Any, y: Any, train: tuple[Any, ...] | None) -> np.ndarray | None:
    """The labels, sorted, that either part of the rows has, unless the explanation knows its classes; None: those of y alone, or none."""
    if isinstance(explanation, Explanation) and explanation.classes is not None:
        return np.asarray(explanation.classes)
    if y is None or train is None or len(train) < 2 or train[1] is None:
        return None
    parts = [check.target_values(labels) for labels in (y, train[1])]
    if any(part.ndim == 2 for part in parts) or len({part.dtype.kind in "biuf" for part in parts}) > 1:
        return None
    return from_labels(np.concatenate(parts)).classes


def target_of(y: Any, model: Any, X: Any, classes: np.ndarray | None, *, max_rows: int | None = None) -> Target:
    """What the rows should be explained as; labels in the classes of all, some of which they may lack."""
    if model is not None:
        return from_model(model, X, max_rows=max_rows)[0]
    target = from_labels(check.in_classes(y, classes, "the audit") if classes is not None else y)
    return target if classes is None or target.outputs.count != len(classes) else replace(target, classes=classes)


def other_rows(
    train: tuple[Any, ...],
    model: Any,
    features: Any,
    target: Target,
    classes: np.ndarray | None,
    one_class: OneClass,
    *,
    max_rows: int | None = None,
) -> tuple[Trial, Tensor | None, Tensor | None]:
    """Rows to learn from, in the units of those judged, with their masks and scores where they were explained too."""
    x, y, *rest = (*train, None) if len(train) == 1 else train
    other = check.same_classes(target_of(y, model, x, classes, max_rows=max_rows), target)
    values = other.values
    if target.outputs.real:
        values = (values * other.scale + other.mean - target.mean) / target.scale
    theirs = one_class(rest[0], x, said=None if target.outputs.real else other.values) if rest else None
    trial = Trial(features.encode(x), as_target(values, target.outputs.real))
    return trial, None if theirs is None else theirs.mask, None if theirs is None else theirs.scores
