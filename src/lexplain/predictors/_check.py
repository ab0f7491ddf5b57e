"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def several_classes(classes: np.ndarray) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes.tolist()}), so nothing can be explained; give rows of at least two classes")


def several_values(scale: float) -> None:
    """Refuse a real-valued target that never changes."""
    if not scale > 0:
        raise ValueError("the target has one value only, so nothing can be explained; give rows whose target differs")


def of_one_type(values: np.ndarray, classes: np.ndarray) -> bool:
    """Whether labels can be read in some classes: probabilities can, and numbers where the classes are numbers."""
    return values.ndim == 2 or (values.dtype.kind in "biuf") == (np.asarray(classes).dtype.kind in "biuf")


def same_classes(other: Any, target: Any) -> Any:
    """Refuse rows to learn from whose classes are not those judged."""
    if other.outputs != target.outputs or (target.classes is not None and list(other.classes) != list(target.classes)):
        raise ValueError(
            f"the rows to learn from have the classes {other.classes}, but those judged have {target.classes}; give the same kind of target"
        )
    return other


def classifier_has_probabilities(model: Any) -> None:
    """Refuse a classifier that names classes without saying how likely they are: its labels would be taken for real values."""
    if hasattr(model, "classes_") and not hasattr(model, "predict_proba") and not isinstance(model, type):
        raise TypeError(
            f"{type(model).__name__} has classes but no predict_proba; wrap it in CalibratedClassifierCV, or pass a function that returns "
            "(rows, classes) probabilities"
        )


def large_enough(shape: Sequence[int], side: int) -> None:
    """Refuse images that a deep network would halve to nothing."""
    if min(shape[-2:]) < side:
        raise ValueError(f"images of {shape[-2]} x {shape[-1]} pixels are too small for a DenseNet, which needs {side} x {side}; use `cnn`")


def probabilities(values: np.ndarray) -> np.ndarray:
    """Refuse rows that are no probabilities."""
    if not np.issubdtype(values.dtype, np.number) or (values < -1e-4).any() or (np.abs(values.sum(1) - 1) > 1e-2).any():
        raise ValueError(
            f"an output of shape {values.shape} must hold class probabilities, but its rows are not all at least 0 with a sum of 1; "
            "give probabilities (for logits, their softmax), or one value a row"
        )
    clipped = np.clip(values, 0, None)
    result: np.ndarray = clipped / clipped.sum(1, keepdims=True)
    return result
