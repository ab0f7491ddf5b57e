"""Select the explained class of each row from the output of any tool."""

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
    """Convert the output of any tool into an explanation of one class per row."""

    classes: np.ndarray | None  # (c,) labels, in the order of the model's outputs; None for real values
    keep: float | None  # for scores: number or share of features per row that count as kept
    label: Labels = None  # explained class of all rows; None: the class that the model predicts
    model: Callable[[RawRows], object] | None = None  # from raw rows to class probabilities; None: no model

    def __call__(self, explanation: ToolOutput, X: RawRows, *, target: Labels = None, outputs: Tensor | None = None) -> Explanation:
        """The explanation of one class per row.

        Args:
            explanation: Output of the tool.
            X: The explained rows.
            target: Explained class, one label or (n,). None: `label`, or the predicted class if there are scores of several classes.
            outputs: Outputs (n, c) of the model for X. None: the model is called.
        """
        target, several = self.label if target is None else target, classes_explained(explanation, X)
        index: np.ndarray | None = None
        if target is not None:
            _check_class_order(self.classes, several)
            index = known_classes(target.detach().cpu() if isinstance(target, Tensor) else target, self.classes, len(X))
        elif several is not None:
            index = self._predicted(X, several, outputs)
        if isinstance(explanation, Explanation):
            result = as_explanation(explanation, X)
            return result if index is None else replace(result, target_index=torch.from_numpy(_class_explained(index, result.target_index)))
        return as_explanation(explanation, X, keep=self.keep, target=index)

    def _predicted(self, X: RawRows, several: Sequence[int], outputs: Tensor | None) -> np.ndarray:
        if self.model is None:
            raise ValueError(
                f"The scores cover {len(several)} classes. Pass target=: a label for all rows or one per row, or pass model= to use the "
                "predicted class. If train or explainer has scores of several classes too, one label per row of X does not select theirs."
            )
        _check_class_order(self.classes, several)
        best: np.ndarray = as_array(self.model(X) if outputs is None else outputs).argmax(1)
        return best


def every_class(explanation: ToolOutput, y: Labels, train: tuple[RawRows, ...] | None) -> np.ndarray | None:
    """The classes of the explanation, or the sorted labels of X and the training rows. None: the classes follow from y."""
    if isinstance(explanation, Explanation) and explanation.classes is not None:
        return np.asarray(explanation.classes)
    if y is None or train is None or len(train) < 2 or train[1] is None:
        return None
    parts = [target_array(labels) for labels in (y, train[1])]
    if any(part.ndim == 2 for part in parts) or len({part.dtype.kind in "biuf" for part in parts}) > 1:
        return None
    return from_labels(np.concatenate(parts)).classes


def _check_class_order(classes: np.ndarray | None, several: Sequence[int] | None) -> None:
    """Raise if scores without class labels cover more or fewer classes than the target has."""
    if isinstance(several, range) and (classes is None or len(several) != len(classes)):
        known = "real values" if classes is None else f"{len(classes)} classes: {classes.tolist()[:10]}"
        raise ValueError(
            f"The scores cover {len(several)} classes, but the target has {known}, so their order is unknown. "
            "Pass the explained model, rows of all classes, or as_explanation(..., target=label, classes=[...])."
        )


def _class_explained(index: np.ndarray, known: Tensor | None) -> np.ndarray:
    """Return the index (rows,) of the explained class. Raise if it differs from that of the explanation."""
    if known is not None and (known.cpu().numpy() != index).any():
        row = int((known.cpu().numpy() != index).argmax())
        raise ValueError(
            f"target is class {int(index[row])} for row {row}, but the explanation is for class {int(known[row])}. Leave target out."
        )
    return index
