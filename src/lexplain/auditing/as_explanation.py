"""`as_explanation`: the output of any tool as an Explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check
from ..core import Explanation
from ..core.contracts import Labels, RawRows, ToolOutput
from ..core.explanation import NoBaseValue
from ..core.kinds import features_for, kind_of
from ..core.rows import as_array
from ..models.target import known_classes


def as_explanation(
    explanation: ToolOutput,
    X: RawRows,
    *,
    keep: float | None = None,
    method: str | None = None,
    target: Labels = None,
    classes: Labels = None,
) -> Explanation:
    """Convert the output of another tool into an Explanation.

    Args:
        explanation: A `shap.Explanation` or shap's list of arrays per class, a captum tensor, LIME explanations (one per row), or scores or
            masks as array, DataFrame, tensor or list. A DataFrame with X's labels is reordered to match X. An `Explanation` is returned
            unchanged.
        X: The explained rows (n, ...). Scores of images are per pixel, (n, rows, columns), or per pixel and channel, with the shape of X.
        keep: Number or share of features kept per row: those with the largest |score|; ties go to the first. None: boolean or 0/1 arrays
            are masks; if scores have zeros in every row, the nonzero ones are kept; other scores raise an error.
        method: Name of the explanation. None: "shap", "lime" or "".
        target: Explained class, one label or (n,). Required if the scores cover several classes; with a model, `audit` and
            `verify` use the predicted class by default.
        classes: Class labels in the order of the scores. None: 0, 1, 2, ...

    Example:
        >>> import lexplain as lx
        >>> lx.as_explanation([[0.1, -2.0, 0.3], [1.5, 0.2, 0.4]], [[1, 2, 3], [4, 5, 6]], keep=1).mask.tolist()
        [[False, True, False], [True, False, False]]
    """
    if isinstance(explanation, Explanation):
        _check_row_count(len(explanation), len(X))
        return explanation
    if target is not None and classes is not None:
        target = known_classes(target, np.asarray(classes), len(X))
    data, names, base = _rows(X), None, None
    if _is_lime(explanation):
        scores, index = _from_lime(explanation if isinstance(explanation, (list, tuple)) else [explanation], data.shape, target)
        method = "lime" if method is None else method
    else:
        if hasattr(explanation, "base_values"):  # of shap
            names, base = explanation.feature_names, explanation.base_values
            explanation, method = explanation.values, "shap" if method is None else method
        elif isinstance(explanation, pd.DataFrame):
            names = list(explanation.columns)
        scores, index, base = _one_class(_array(explanation, data), data.shape, target, base)
    features, lay_out = None, kind_of(features_for(data)).lay_out  # some kinds find the features from the shape of the scores
    if lay_out is not None and scores.dtype.kind in "biuf":
        features, scores = lay_out(scores, data)
    scores = _checked_scores(scores, data.shape if features is None else scores.shape).reshape(len(scores), -1)
    wide = scores.dtype.kind == "f" and scores.dtype.itemsize >= 8
    return Explanation(
        scores=torch.from_numpy(np.array(scores, dtype=np.float64 if wide else np.float32, order="C")),
        mask=torch.from_numpy(_mask(scores, keep)),
        names=_names(data, names, scores.shape[1]) if features is None else features.names,
        data=data,
        method=method or "",
        features=features,
        target_index=None if index is None else torch.from_numpy(index),
        additive=base is not None,
        base_values=base,
        classes=None if classes is None else tuple(np.asarray(classes).tolist()),
    )


def classes_explained(explanation: ToolOutput, X: RawRows) -> Sequence[int] | None:
    """The classes that the scores cover, if there are several: a range if the scores have no class labels."""
    if isinstance(explanation, Explanation):
        return None
    if _is_lime(explanation):
        objects = explanation if isinstance(explanation, (list, tuple)) else [explanation]
        named = [[] if getattr(each, "mode", "") == "regression" else list(each.as_map()) for each in objects]
        return sorted({label for labels in named for label in labels}) if max(map(len, named)) > 1 else None
    data = _rows(X)
    shape = _array(explanation.values if hasattr(explanation, "base_values") else explanation, data).shape
    return range(shape[-1]) if shape[:-1] == data.shape and shape[-1] > 1 else None


def _rows(X: RawRows) -> RawRows:
    return X if isinstance(X, pd.DataFrame) else _rows_of_numbers(as_array(X) if isinstance(X, Tensor) else X)


def _is_lime(output: ToolOutput) -> bool:
    first = output[0] if isinstance(output, (list, tuple)) and output else output
    return callable(getattr(first, "as_map", None)) and hasattr(first, "local_exp")


def _from_lime(objects: ToolOutput, shape: tuple[int, ...], target: Labels) -> tuple[np.ndarray, np.ndarray | None]:
    """Scores (n, d) and classes (n,) of LIME explanations, one per row. Features that LIME left out have score 0."""
    _check_row_count(len(objects), shape[0])
    requested = None if target is None else _class_indices(target, shape[0])
    scores, labels = np.zeros(shape), np.zeros(shape[0], dtype=np.int64)
    real = all(getattr(each, "mode", "") == "regression" for each in objects)
    for row, each in enumerate(objects):
        weights = each.as_map()
        if real:
            labels[row] = each.dummy_label  # the other entry contains the same weights with opposite signs
        elif requested is None and len(weights) == 1:
            labels[row] = next(iter(weights))
        else:
            labels[row] = _class_of_each(None if requested is None else requested[row], list(weights), 1)[0]
        by_column = dict(weights[labels[row]])
        if len(shape) != 2 or max(by_column, default=0) >= shape[1]:
            raise ValueError(
                f"The explanation has a weight for feature {max(by_column, default=0)}, but X has shape {shape}. "
                "Pass the table that was explained. Explanations of words and image segments are not supported."
            )
        scores[row, list(by_column)] = list(by_column.values())
    return scores, None if real else labels


def _array(output: ToolOutput, data: RawRows) -> np.ndarray:
    """Scores as an array. shap's list of arrays per class is stacked along a last axis."""
    if isinstance(output, tuple) and output and isinstance(output[0], Tensor):  # captum returns one tensor per input of the model
        check.one_input(len(output))
        output = output[0]
    if isinstance(output, list) and output and all(getattr(each, "shape", None) == data.shape for each in output):
        return np.stack([_array(each, data) for each in output], -1)
    if isinstance(output, Tensor):
        return as_array(output.float() if output.dtype is torch.float16 else output)
    if isinstance(output, pd.DataFrame) and isinstance(data, pd.DataFrame):
        output = _aligned(output, data)
    return _rows_of_numbers(output)


def _aligned(scores: pd.DataFrame, data: pd.DataFrame) -> pd.DataFrame:
    """Scores in the order of X's rows and columns, if they have the same labels. A range of numbers does not count as labels."""
    if _same_labels(scores.index, data.index):
        scores = scores.loc[data.index]
    return scores[data.columns] if _same_labels(scores.columns, data.columns) else scores


def _same_labels(own: pd.Index[Any], other: pd.Index[Any]) -> bool:
    known = not isinstance(own, pd.RangeIndex) and own.is_unique and other.is_unique
    return known and len(own) == len(other) and bool(own.isin(other).all())


def _one_class(
    scores: np.ndarray, shape: tuple[int, ...], target: Labels, base: ToolOutput
) -> tuple[np.ndarray, np.ndarray | None, Tensor | None]:
    """The scores of one class per row, that class, and the base values if the scores are additive."""
    rows = shape[0]
    base = None if base is None or isinstance(base, NoBaseValue) else np.asarray(base, dtype=np.float64)
    if scores.shape[:-1] != shape:  # no axis of classes
        index = None if target is None else _class_indices(target, rows)
        if base is not None:
            base = torch.tensor(np.repeat(base, rows) if base.size == 1 else base.reshape(-1))
        return scores, index, base
    count = scores.shape[-1]
    index = np.zeros(rows, dtype=np.int64) if count == 1 else _class_of_each(target, range(count), rows)
    every_row = np.arange(rows)
    if base is not None:
        base = torch.from_numpy(np.broadcast_to(base, (rows, count))[every_row, index])
    return np.moveaxis(scores, -1, 1)[every_row, index], None if count == 1 else index, base


def _mask(scores: np.ndarray, keep: float | None) -> np.ndarray:
    """The mask (n, d) of scores (n, d)."""
    count = scores.shape[1]
    is_mask = scores.dtype.kind == "b"
    sparse = bool((scores == 0).any(1).all()) or bool(np.isin(scores, (0, 1)).all())
    _check_keep(keep, count, mask=is_mask, sparse=sparse)
    if keep is None:
        kept: np.ndarray = scores != 0
        return kept
    size = int(keep) if isinstance(keep, (int, np.integer)) else max(1, min(count - 1, round(keep * count)))
    order = np.argsort(-np.abs(scores.astype(np.float64)), axis=1, kind="stable")[:, :size]
    mask = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(mask, order, True, axis=1)
    return mask


def _names(data: RawRows, names: ToolOutput, count: int) -> tuple[str, ...]:
    """The names of X's columns. Without them the names that came with the scores, or x1 to xd."""
    if isinstance(data, pd.DataFrame):
        return tuple(map(str, data.columns))
    if names is not None and len(names) == count and all(isinstance(name, str) for name in names):
        return tuple(names)
    return tuple(f"x{j + 1}" for j in range(count))


# ---- checks ----


def _check_row_count(explanations: int, rows: int) -> None:
    """Raise if there is not one explanation per row."""
    if explanations != rows:
        raise ValueError(f"Got {explanations} explanation(s) for {rows} rows of X. Pass one per row, in the same order.")


def _checked_scores(scores: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the scores unchanged. Raise for other shapes than that of the rows, non-numeric types, NaN and infinity."""
    if scores.dtype.kind not in "biuf":
        raise TypeError(f"Scores must be numbers, one per feature and row, got type {scores.dtype}.")
    if scores.shape != shape or len(shape) < 2:
        raise ValueError(
            f"The scores have shape {scores.shape}, but X has shape {shape}. Both must be (rows, features), in the same order. "
            "Scores of several classes have the classes as last axis and need target=."
        )
    wrong = ~np.isfinite(scores)
    if wrong.any():
        position = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"The scores contain {scores[position]} (first at {position}). Fix the explainer, or drop such rows.")
    return scores


def _rows_of_numbers(scores: ToolOutput) -> np.ndarray:
    """Return nested lists and similar objects as one array. Raise if rows differ in length."""
    try:
        return np.asarray(scores)
    except (TypeError, ValueError) as ragged:
        raise ValueError(f"The scores are not a table of numbers ({ragged}). Pass one score per feature and row.") from None


def _class_of_each(target: Labels, classes: Sequence[int], rows: int) -> np.ndarray:
    """Return the explained class (rows,). Raise if it is not given or was not explained."""
    if target is None:
        raise ValueError(
            f"The scores cover {len(classes)} classes ({list(classes)[:10]}). "
            "Pass target=: one class per row, such as model.predict_proba(X).argmax(1)."
        )
    return _class_indices(target, rows, classes)


def _class_indices(target: Labels, rows: int, classes: Sequence[int] | None = None) -> np.ndarray:
    """Return one class index per row, from one per row or one for all. Raise for labels and for classes that were not explained."""
    index = as_array(target)
    if index.dtype.kind not in "iu" or index.shape not in ((), (rows,)):
        raise ValueError(
            f"target must be the index of a class, one for all rows or ({rows},), got type {index.dtype} and shape {index.shape}."
        )
    invalid = [int(c) for c in index.reshape(-1) if c < 0 or (classes is not None and c not in classes)]
    if invalid:
        raise ValueError(
            f"target contains {invalid[0]}, which was not explained. Classes: {'0, 1, ...' if classes is None else list(classes)}."
        )
    return np.broadcast_to(index, (rows,)).astype(np.int64)


def _check_keep(keep: float | str | None, count: int, *, mask: bool, sparse: bool) -> None:
    """Raise for an impossible keep, for keep with a mask, and for scores of all features without keep."""
    if isinstance(keep, str):
        raise ValueError(f"keep must be a number of features (1 to {count - 1}) or a rate between 0 and 1, got {keep!r}.")
    if mask and keep is not None:
        raise ValueError(f"A boolean mask sets which features are kept, so keep={keep} has no meaning. Leave keep out.")
    check.keep_or_penalty(keep, None, count)
    if keep is None and not (mask or sparse):
        raise ValueError(
            "Every feature has a non-zero score, so keep= is needed: how many features per row count as kept "
            f"(1 to {count - 1}), or a rate such as 0.3."
        )
