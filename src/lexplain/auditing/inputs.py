"""What an audit was given: the same classes for all rows, and one class explained of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ..core import Explanation
from ..core.contracts import Labels, RawRows, ToolOutput
from ..core.rows import as_array
from ..predictors import from_labels
from ..predictors.labels import target_values
from . import _check
from .as_explanation import as_explanation, classes_explained


@dataclass(frozen=True)
class ClassSelection:
    """Turn what any tool returned of rows into an explanation of one class of each."""

    classes: np.ndarray | None  # (c,) labels, in the order of the model's outputs; None for real values
    keep: float | None  # of scores, how many features of a row count as kept
    label: Labels = None  # of the class meant on all rows; None: the one that the model predicts
    model: Callable[[RawRows], object] | None = None  # raw rows to class probabilities; None: there is no model

    def __call__(self, explanation: ToolOutput, X: RawRows, *, target: Labels = None, answer: Tensor | None = None) -> Explanation:
        """The explanation of one class a row.

        Args:
            explanation: what the tool returned.
            X: the rows explained.
            target: the class meant, one label or (n,); None: the label for all, else of several classes the one that the model predicts.
            answer: (n, c) what the model says of the rows, where it is known; None: it is asked.
        """
        target, several = self.label if target is None else target, classes_explained(explanation, X)
        index: np.ndarray | None = None
        if target is not None:
            index = _check.class_to_audit(target, self.classes, len(X), several)
        elif several is not None:
            index = self._predicted(X, several, answer)
        if isinstance(explanation, Explanation):
            ours = as_explanation(explanation, X)
            return ours if index is None else replace(ours, target_index=torch.from_numpy(_check.class_explained(index, ours.target_index)))
        return as_explanation(explanation, X, keep=self.keep, target=index)

    def _predicted(self, X: RawRows, several: Sequence[int], answer: Tensor | None) -> np.ndarray:
        ask = _check.require_one_class(self.model, self.classes, several)
        best: np.ndarray = as_array(ask(X) if answer is None else answer).argmax(1)
        return best


def every_class(explanation: ToolOutput, y: Labels, train: tuple[RawRows, ...] | None) -> np.ndarray | None:
    """The labels, sorted, that either part of the rows has, unless the explanation knows its classes; None: those of y alone, or none."""
    if isinstance(explanation, Explanation) and explanation.classes is not None:
        return np.asarray(explanation.classes)
    if y is None or train is None or len(train) < 2 or train[1] is None:
        return None
    parts = [target_values(labels) for labels in (y, train[1])]
    if any(part.ndim == 2 for part in parts) or len({part.dtype.kind in "biuf" for part in parts}) > 1:
        return None
    return from_labels(np.concatenate(parts)).classes
