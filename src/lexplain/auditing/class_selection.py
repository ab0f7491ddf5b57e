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
from ..models import from_labels
from ..models.target import known_classes, target_array
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
            _refuse_unknown_order(self.classes, several)
            index = known_classes(target.detach().cpu() if isinstance(target, Tensor) else target, self.classes, len(X))
        elif several is not None:
            index = self._predicted(X, several, answer)
        if isinstance(explanation, Explanation):
            ours = as_explanation(explanation, X)
            return ours if index is None else replace(ours, target_index=torch.from_numpy(_class_explained(index, ours.target_index)))
        return as_explanation(explanation, X, keep=self.keep, target=index)

    def _predicted(self, X: RawRows, several: Sequence[int], answer: Tensor | None) -> np.ndarray:
        if self.model is None:
            raise ValueError(
                f"these are the scores of {len(several)} classes, but the explanation of one class a row is judged; give target=, one "
                "label for all rows or one a row, or model= alone, whose predicted class is then meant; where other rows, or an "
                "explainer that is asked again, have scores of several classes too, one label a row of X does not tell theirs"
            )
        _refuse_unknown_order(self.classes, several)
        best: np.ndarray = as_array(self.model(X) if answer is None else answer).argmax(1)
        return best


def every_class(explanation: ToolOutput, y: Labels, train: tuple[RawRows, ...] | None) -> np.ndarray | None:
    """The labels, sorted, that either part of the rows has, unless the explanation knows its classes; None: those of y alone, or none."""
    if isinstance(explanation, Explanation) and explanation.classes is not None:
        return np.asarray(explanation.classes)
    if y is None or train is None or len(train) < 2 or train[1] is None:
        return None
    parts = [target_array(labels) for labels in (y, train[1])]
    if any(part.ndim == 2 for part in parts) or len({part.dtype.kind in "biuf" for part in parts}) > 1:
        return None
    return from_labels(np.concatenate(parts)).classes


def _refuse_unknown_order(classes: np.ndarray | None, several: Sequence[int] | None) -> None:
    """Refuse scores of more or fewer classes than the target has, where only their place says whose they are."""
    if isinstance(several, range) and (classes is None or len(several) != len(classes)):
        known = "no classes, but a real value" if classes is None else f"{len(classes)}: {classes.tolist()[:10]}"
        raise ValueError(
            f"these are the scores of {len(several)} classes, but the target has {known}, so that their order does not say whose they are; "
            "give the model that was explained, or rows with every class, or name them: as_explanation(..., target=label, classes=[...])"
        )


def _class_explained(index: np.ndarray, asked: Tensor | None) -> np.ndarray:
    """Return the index (rows,) of the class explained; refuse another one than the explanation itself says."""
    if asked is not None and (asked.cpu().numpy() != index).any():
        row = int((asked.cpu().numpy() != index).argmax())
        raise ValueError(
            f"target says class {int(index[row])} of row {row}, but the explanation is of class {int(asked[row])}; leave target out"
        )
    return index
