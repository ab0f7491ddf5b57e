"""Targets: labels, class probabilities, real values, and outputs of models."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from sklearn.utils.multiclass import type_of_target
from torch import Tensor

from ..core import Classes, Outputs, RealValue
from ..core.contracts import Labels, Model, RawRows
from ..core.rows import as_array
from .queried import QueriedModel, as_queried, classes_of

MOST_REAL_CLASSES = 20  # a floating-point target with more distinct values is a real value, even if all are whole


@dataclass(frozen=True)
class Target:
    """The target of each row, with its classes or its scale."""

    values: Tensor  # (n, c) probabilities, or (n,) standardised values
    outputs: Outputs
    classes: np.ndarray | None  # (c,) labels; None for real values
    mean: float = 0.0  # of the real values
    scale: float = 1.0

    def in_units_of(self, other: Target) -> Target:
        """The same real values, standardised like those of `other`; classes stay unchanged. Raises if classes differ."""
        differ = other.classes is not None and (self.classes is None or list(self.classes) != list(other.classes))
        if self.outputs != other.outputs or differ:
            raise ValueError(
                f"The target has classes {self.classes}, but the target it is compared with has {other.classes}. "
                "Pass the same type of target for both."
            )
        if not self.outputs.real:
            return self
        values = (self.values * self.scale + self.mean - other.mean) / other.scale
        return replace(self, values=values, mean=other.mean, scale=other.scale)


def from_labels(y: Labels) -> Target:
    """Labels as one-hot rows, probabilities unchanged, real values standardised."""
    values = target_array(y)
    if values.ndim == 2:
        soft = _probabilities(values)
        return Target(soft, Classes(soft.shape[1]), np.arange(soft.shape[1]))
    # Whole numbers of a floating type are real values if there are too many for class labels.
    whole_but_real = np.issubdtype(values.dtype, np.floating) and len(np.unique(values)) > MOST_REAL_CLASSES
    if type_of_target(values).startswith("continuous") or whole_but_real:
        return _real(values.astype(np.float64))
    classes, index = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y contains one class only: {classes.tolist()}. At least two classes are needed.")
    return Target(torch.eye(len(classes))[torch.as_tensor(index)], Classes(len(classes)), classes)


def from_model(model: Model, rows: RawRows) -> tuple[Target, QueriedModel]:
    """Outputs of a model for full rows, and the queried model."""
    query = as_queried(model)
    output = query(rows)
    if output.ndim == 1 or output.shape[1] == 1:
        return _real(output.reshape(len(output)).astype(np.float64)), query
    soft = _probabilities(output)
    classes = classes_of(query)
    known = classes is not None and len(classes) == soft.shape[1]
    return Target(soft, Classes(soft.shape[1]), classes if known else np.arange(soft.shape[1])), query


def _probabilities(values: np.ndarray) -> Tensor:
    """Class probabilities, normalised to a sum of 1; raises if they are not probabilities."""
    if not np.issubdtype(values.dtype, np.number) or (values < -1e-4).any() or (np.abs(values.sum(1) - 1) > 1e-2).any():
        raise ValueError(
            f"Class probabilities of shape {values.shape} must be non-negative with rows that sum to 1. "
            "Apply a softmax to logits, or pass one value per row."
        )
    clipped = np.clip(values, 0, None)
    return torch.as_tensor(clipped / clipped.sum(1, keepdims=True), dtype=torch.float32)


def _real(values: np.ndarray) -> Target:
    mean, scale = float(values.mean()), float(values.std())
    if not scale > 0:
        raise ValueError("The target is constant. Pass rows with different target values.")
    standard = torch.as_tensor((values - mean) / scale, dtype=torch.float32)
    return Target(standard, RealValue(), None, mean, scale)


def same_length(rows: int, y: Labels) -> None:
    """Check that there is one label per row."""
    if rows != len(y):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows and y {len(y)}. Pass one label per row."
        )


def target_array(y: Labels) -> np.ndarray:
    """Return y as an array of one value, or of class probabilities, per row."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None. Pass labels y, or model= to explain a model.")
    values = as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(f"y has shape {values.shape}, but one label or value per row is needed, or (rows, classes) probabilities.")
    if pd.isna(values).any() or (np.issubdtype(values.dtype, np.number) and not np.isfinite(values).all()):
        raise ValueError("Input y contains NaN or infinity. Drop such rows.")
    return values


def known_classes(target: Labels, classes: np.ndarray | None, rows: int) -> np.ndarray:
    """Convert class labels to their indices; raise for a label that did not occur in fit."""
    if classes is None:
        raise ValueError(f"target={target!r} is a class, but the output is a real value. Leave target out.")
    labels = as_array(target)
    if labels.ndim > 1 or (labels.ndim == 1 and len(labels) != rows):
        raise ValueError(f"target has shape {labels.shape} for {rows} rows. Pass one class label, or one per row.")
    known = {label: index for index, label in enumerate(classes.tolist())}
    requested = np.broadcast_to(labels, (rows,)).tolist()
    unknown = [label for label in requested if label not in known]
    if unknown:
        raise ValueError(f"target contains {unknown[0]!r}, which is not a class of the fit. Classes: {classes.tolist()}.")
    return np.array([known[label] for label in requested], dtype=np.int64)


def in_classes(y: Labels, classes: np.ndarray | None) -> np.ndarray:
    """Return labels as one-hot rows of the classes of the fit; other targets unchanged."""
    values = target_array(y)
    if classes is None or values.ndim == 2:
        return values
    rows: np.ndarray = np.eye(len(classes))[known_classes(values, classes, len(values))]
    return rows
