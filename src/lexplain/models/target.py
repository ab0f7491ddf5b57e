"""Targets: labels, classes, real values, and what models say."""

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
from .asked import CachedModel, as_function

MOST_REAL_CLASSES = 20  # a floating-point target with more distinct values is a real value, even if all are whole


@dataclass(frozen=True)
class Target:
    """The target of each row, and how to read it back."""

    values: Tensor  # (n, c) probabilities, or (n,) standardised values
    outputs: Outputs
    classes: np.ndarray | None  # (c,) labels; None for real values
    mean: float = 0.0  # of the real values
    scale: float = 1.0

    def in_units_of(self, other: Target) -> Target:
        """The same real values, standardised as others are; of classes nothing changes, and others are refused."""
        differ = other.classes is not None and (self.classes is None or list(self.classes) != list(other.classes))
        if self.outputs != other.outputs or differ:
            raise ValueError(
                f"the rows to learn from have the classes {self.classes}, but those judged have {other.classes}; "
                "give the same kind of target"
            )
        if not self.outputs.real:
            return self
        values = (self.values * self.scale + self.mean - other.mean) / other.scale
        return replace(self, values=values, mean=other.mean, scale=other.scale)


def from_labels(y: Labels) -> Target:
    """Labels to one-hot rows, rows of probabilities as they are, real values standardised."""
    values = target_array(y)
    if values.ndim == 2:
        soft = _probabilities(values)
        return Target(soft, Classes(soft.shape[1]), np.arange(soft.shape[1]))
    # Whole numbers of a floating type are real values where there are more of them than classes have names.
    whole_but_real = np.issubdtype(values.dtype, np.floating) and len(np.unique(values)) > MOST_REAL_CLASSES
    if type_of_target(values).startswith("continuous") or whole_but_real:
        return _real(values.astype(np.float64))
    classes, index = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes.tolist()}), so nothing can be explained; give rows of at least two classes")
    return Target(torch.eye(len(classes))[torch.as_tensor(index)], Classes(len(classes)), classes)


def from_model(model: Model, rows: RawRows, *, max_rows: int | None = None) -> tuple[Target, CachedModel]:
    """What a model says of full rows, asked about so many at a time at the most, and the function that was asked."""
    ask = CachedModel(as_function(model))
    most = max_rows or max(1, len(rows))
    take = rows.iloc if hasattr(rows, "iloc") else rows
    answer = ask(rows) if len(rows) <= most else np.concatenate([ask(take[at : at + most]) for at in range(0, len(rows), most)])
    if answer.ndim == 1 or answer.shape[1] == 1:
        return _real(answer.reshape(len(answer)).astype(np.float64)), ask
    soft = _probabilities(answer)
    owner = getattr(model, "__self__", model)  # of a bound method such as clf.predict_proba
    classes = getattr(owner, "classes_", None)
    known = classes is not None and len(classes) == soft.shape[1]
    return Target(soft, Classes(soft.shape[1]), np.asarray(classes) if known else np.arange(soft.shape[1])), ask


def _probabilities(values: np.ndarray) -> Tensor:
    """Rows of probabilities, of sum 1."""
    if not np.issubdtype(values.dtype, np.number) or (values < -1e-4).any() or (np.abs(values.sum(1) - 1) > 1e-2).any():
        raise ValueError(
            f"an output of shape {values.shape} must hold class probabilities, but its rows are not all at least 0 with a sum of 1; "
            "give probabilities (for logits, their softmax), or one value a row"
        )
    clipped = np.clip(values, 0, None)
    return torch.as_tensor(clipped / clipped.sum(1, keepdims=True), dtype=torch.float32)


def _real(values: np.ndarray) -> Target:
    mean, scale = float(values.mean()), float(values.std())
    if not scale > 0:
        raise ValueError("the target has one value only, so nothing can be explained; give rows whose target differs")
    standard = torch.as_tensor((values - mean) / scale, dtype=torch.float32)
    return Target(standard, RealValue(), None, mean, scale)


def same_length(rows: int, y: Labels) -> None:
    """Refuse labels that do not belong to the rows."""
    if rows != len(y):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {rows} rows and y {len(y)}; give one y a row")


def target_array(y: Labels) -> np.ndarray:
    """Return y as an array of one value a row, or of one row of probabilities a row."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None; give labels y, or model= to explain a model")
    values = as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(f"y has shape {values.shape}, but one label or value a row is needed, or (rows, classes) probabilities")
    if pd.isna(values).any() or (np.issubdtype(values.dtype, np.number) and not np.isfinite(values).all()):
        raise ValueError("Input y contains NaN or infinity; drop such rows")
    return values


def known_classes(target: Labels, classes: np.ndarray | None, rows: int) -> np.ndarray:
    """Turn class labels into their indices, or refuse one that was not seen in fit."""
    if classes is None:
        raise ValueError(f"target={target!r} names a class, but a real-valued output has none; leave target out")
    labels = as_array(target)
    if labels.ndim > 1 or (labels.ndim == 1 and len(labels) != rows):
        raise ValueError(f"target has shape {labels.shape} for {rows} rows; give one class label, or one a row")
    known = {label: index for index, label in enumerate(classes.tolist())}
    asked = np.broadcast_to(labels, (rows,)).tolist()
    odd = [label for label in asked if label not in known]
    if odd:
        raise ValueError(f"target {odd[0]!r} is no class of the fit; the classes are {classes.tolist()}")
    return np.array([known[label] for label in asked], dtype=np.int64)


def in_classes(y: Labels, classes: np.ndarray | None) -> np.ndarray:
    """Return labels as one-hot rows of the fit's classes, some of which they may lack; other targets as they are."""
    values = target_array(y)
    if classes is None or values.ndim == 2:
        return values
    rows: np.ndarray = np.eye(len(classes))[known_classes(values, classes, len(values))]
    return rows
