"""Labels, classes and what models say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..core.contracts import Labels, Model
from ..core.rows import as_array


def same_length(rows: int, y: Labels) -> None:
    """Refuse labels that do not belong to the rows."""
    if rows != len(y):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {rows} rows and y {len(y)}; give one y a row")


def network_reads(model: Model, to_network: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Refuse a torch network of rows that no network could read."""
    if isinstance(model, torch.nn.Module):
        to_network(x[:1])


def model_output(output: np.ndarray, rows: int) -> np.ndarray:
    """Refuse a model whose output is neither (rows, classes) nor (rows,)."""
    good = output.ndim in (1, 2) and output.shape[0] == rows and (output.ndim == 1 or output.shape[1] >= 1)
    if not good:
        raise ValueError(
            f"the model returned shape {output.shape} for {rows} rows, but ({rows}, classes) probabilities or ({rows},) values are needed; "
            "pass predict_proba, or wrap the model in a function that returns one row a row"
        )
    if not np.issubdtype(output.dtype, np.number):
        raise ValueError(f"the model returned {output.dtype} values, but numbers are needed; pass predict_proba rather than predict")
    if not np.isfinite(output).all():
        raise ValueError("the model returned NaN or infinity for some rows; mend the model, or drop those rows")
    return output


def target_values(y: Labels) -> np.ndarray:
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
    values = target_values(y)
    if classes is None or values.ndim == 2:
        return values
    rows: np.ndarray = np.eye(len(classes))[known_classes(values, classes, len(values))]
    return rows


def as_many_outputs(got: int, needed: int) -> None:
    """Refuse a model that answers with another number of classes than it did when it was asked first."""
    if got != needed:
        raise ValueError(
            f"the model returned {got} numbers a row, but {needed} are needed, one for each of the classes; pass predict_proba"
        )


def network_output(output: Tensor, rows: int, count: int, real: bool) -> None:
    """Refuse a network whose output does not fit the target."""
    shape = tuple(output.shape)
    fits = shape in ((rows,), (rows, 1)) if real else shape == (rows, count)
    if not fits:
        needed = f"({rows},) or ({rows}, 1), one value a row" if real else f"({rows}, {count}), one logit a class (two for two classes),"
        raise ValueError(f"the network returned shape {shape} for {rows} rows, but {needed} is needed")
