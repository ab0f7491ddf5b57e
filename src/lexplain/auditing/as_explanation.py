"""What any tool returns, as an Explanation of ours."""

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
    """Turn what any tool returned into an Explanation, so that it can be judged, compared and shown like one of ours.

    Args:
        explanation: an Explanation of ours, which is returned as it is, whatever else is given; a `shap.Explanation`; shap's older list
            of one array a class; a captum tensor, or a tuple of one; one LIME explanation of a table, or a list of them; or scores or
            masks as an array, a DataFrame, a tensor or nested lists. A DataFrame with the labels of X's columns or rows, in whatever
            order, is put into X's; one that merely numbers them is taken as it is.
        X: the rows (n, ...) that were explained. Scores of images are of pixels, (n, rows, columns), or of each channel of them, as X.
        keep: what is kept of scores: so many of the largest |score| of each row, or a rate in (0, 1) of them; of equal ones the first.
            None: truths, or scores that are all 0 or 1, are a mask; scores that leave out at least one feature of every row (exact
            zeros, as LIME's) keep the others; scores of every feature do not say what is kept, and are refused.
        method: a name for it; None: "shap", "lime", or none.
        target: the label of the class explained, one for all rows or (n,): needed where the scores of several classes were given.
        classes: the labels, in the order of the scores; None: they are 0, 1, 2 and so on.

    Example:
        >>> import lexplain as lx
        >>> lx.as_explanation([[0.1, -2.0, 0.3], [1.5, 0.2, 0.4]], [[1, 2, 3], [4, 5, 6]], keep=1).mask.tolist()
        [[False, True, False], [True, False, False]]
    """
    if isinstance(explanation, Explanation):
        _refuse_other_rows(len(explanation), len(X))
        return explanation
    if target is not None and classes is not None:
        target = known_classes(target, np.asarray(classes), len(X))
    data, names, base = _rows(X), None, None
    if _is_lime(explanation):
        scores, asked = _from_lime(explanation if isinstance(explanation, (list, tuple)) else [explanation], data.shape, target)
        method = "lime" if method is None else method
    else:
        if hasattr(explanation, "base_values"):  # shap's
            names, base = explanation.feature_names, explanation.base_values
            explanation, method = explanation.values, "shap" if method is None else method
        elif isinstance(explanation, pd.DataFrame):
            names = list(explanation.columns)
        scores, asked, base = _one_class(_array(explanation, data), data.shape, target, base)
    features, lay_out = None, kind_of(features_for(data)).lay_out  # if the kind of the rows can tell which features the scores are of
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
        target_index=None if asked is None else torch.from_numpy(asked),
        additive=base is not None,
        base_values=base,
        classes=None if classes is None else tuple(np.asarray(classes).tolist()),
    )


def classes_explained(explanation: ToolOutput, X: RawRows) -> Sequence[int] | None:
    """The classes whose scores of the rows X were given, where they are several: a range where their places alone tell them apart."""
    if isinstance(explanation, Explanation):
        return None
    if _is_lime(explanation):
        given = explanation if isinstance(explanation, (list, tuple)) else [explanation]
        named = [[] if getattr(each, "mode", "") == "regression" else list(each.as_map()) for each in given]
        return sorted({label for labels in named for label in labels}) if max(map(len, named)) > 1 else None
    data = _rows(X)
    shape = _array(explanation.values if hasattr(explanation, "base_values") else explanation, data).shape
    return range(shape[-1]) if shape[:-1] == data.shape and shape[-1] > 1 else None


def _rows(X: RawRows) -> RawRows:
    return X if isinstance(X, pd.DataFrame) else _rows_of_numbers(as_array(X) if isinstance(X, Tensor) else X)


def _is_lime(given: ToolOutput) -> bool:
    first = given[0] if isinstance(given, (list, tuple)) and given else given
    return callable(getattr(first, "as_map", None)) and hasattr(first, "local_exp")


def _from_lime(given: ToolOutput, shape: tuple[int, ...], target: Labels) -> tuple[np.ndarray, np.ndarray | None]:
    """Scores (n, d) and classes (n,) of one LIME explanation a row; what LIME left out is exactly 0."""
    _refuse_other_rows(len(given), shape[0])
    wanted = None if target is None else _class_indices(target, shape[0])
    scores, labels = np.zeros(shape), np.zeros(shape[0], dtype=np.int64)
    real = all(getattr(each, "mode", "") == "regression" for each in given)
    for row, each in enumerate(given):  # an object a row is how LIME gives them
        weights = each.as_map()
        if real:
            labels[row] = each.dummy_label  # its other entry holds the same weights with their signs turned
        elif wanted is None and len(weights) == 1:
            labels[row] = next(iter(weights))
        else:
            labels[row] = _class_of_each(None if wanted is None else wanted[row], list(weights), 1)[0]
        found = dict(weights[labels[row]])
        if len(shape) != 2 or max(found, default=0) >= shape[1]:
            raise ValueError(
                f"the explanation weighs feature {max(found, default=0)}, but X has shape {shape}; "
                "give the table that was explained: words and segments are no columns"
            )
        scores[row, list(found)] = list(found.values())
    return scores, None if real else labels


def _array(given: ToolOutput, data: RawRows) -> np.ndarray:
    """Scores as an array, the classes of shap's older lists as the last axis."""
    if isinstance(given, tuple) and given and isinstance(given[0], Tensor):  # captum gives one tensor for each input of the model
        check.one_input(len(given))
        given = given[0]
    if isinstance(given, list) and given and all(getattr(each, "shape", None) == data.shape for each in given):
        return np.stack([_array(each, data) for each in given], -1)
    if isinstance(given, Tensor):
        return as_array(given.float() if given.dtype is torch.float16 else given)
    if isinstance(given, pd.DataFrame) and isinstance(data, pd.DataFrame):
        given = _aligned(given, data)
    return _rows_of_numbers(given)


def _aligned(scores: pd.DataFrame, data: pd.DataFrame) -> pd.DataFrame:
    """Scores in the order of the rows and columns of X, where they have the same labels; a mere numbering may not be X's."""
    if _same_labels(scores.index, data.index):
        scores = scores.loc[data.index]
    return scores[data.columns] if _same_labels(scores.columns, data.columns) else scores


def _same_labels(own: pd.Index[Any], wanted: pd.Index[Any]) -> bool:
    known = not isinstance(own, pd.RangeIndex) and own.is_unique and wanted.is_unique
    return known and len(own) == len(wanted) and bool(own.isin(wanted).all())


def _one_class(
    scores: np.ndarray, shape: tuple[int, ...], target: Labels, base: ToolOutput
) -> tuple[np.ndarray, np.ndarray | None, Tensor | None]:
    """The scores of one class a row, that class, and what the scores add up from, if they do."""
    rows = shape[0]
    base = None if base is None or isinstance(base, NoBaseValue) else np.asarray(base, dtype=np.float64)
    if scores.shape[:-1] != shape:  # no axis of classes
        asked = None if target is None else _class_indices(target, rows)
        if base is not None:
            base = torch.tensor(np.repeat(base, rows) if base.size == 1 else base.reshape(-1))
        return scores, asked, base
    count = scores.shape[-1]
    asked = np.zeros(rows, dtype=np.int64) if count == 1 else _class_of_each(target, range(count), rows)
    at = np.arange(rows)
    if base is not None:
        base = torch.from_numpy(np.broadcast_to(base, (rows, count))[at, asked])
    return np.moveaxis(scores, -1, 1)[at, asked], None if count == 1 else asked, base


def _mask(scores: np.ndarray, keep: float | None) -> np.ndarray:
    """What is kept (n, d) of scores (n, d)."""
    count = scores.shape[1]
    truths = scores.dtype.kind == "b"
    sparse = bool((scores == 0).any(1).all()) or bool(np.isin(scores, (0, 1)).all())
    _refuse_unknown_selection(keep, count, mask=truths, sparse=sparse)
    if keep is None:
        kept: np.ndarray = scores != 0
        return kept
    size = int(keep) if isinstance(keep, (int, np.integer)) else max(1, min(count - 1, round(keep * count)))
    order = np.argsort(-np.abs(scores.astype(np.float64)), axis=1, kind="stable")[:, :size]
    mask = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(mask, order, True, axis=1)
    return mask


def _names(data: RawRows, names: ToolOutput, count: int) -> tuple[str, ...]:
    """The names of X's columns, else those that came with the scores, else x1 to xd."""
    if isinstance(data, pd.DataFrame):
        return tuple(map(str, data.columns))
    if names is not None and len(names) == count and all(isinstance(name, str) for name in names):
        return tuple(names)
    return tuple(f"x{j + 1}" for j in range(count))


# ---- what is refused ----


def _refuse_other_rows(given: int, rows: int) -> None:
    """Refuse a list of explanations that is longer or shorter than the rows."""
    if given != rows:
        raise ValueError(f"{given} explanation(s) were given for {rows} rows of X; give one for each row, in the same order")


def _checked_scores(scores: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the scores of rows of a shape as they are; refuse other shapes, other things than numbers, NaN and infinity."""
    if scores.dtype.kind not in "biuf":
        raise TypeError(f"the scores are of type {scores.dtype}, but numbers are needed, one for each feature of each row")
    if scores.shape != shape or len(shape) < 2:
        raise ValueError(
            f"the scores have shape {scores.shape}, but X has shape {shape}; both must be (rows, features), in the same order; "
            "scores of several classes have them as a last axis and need target="
        )
    wrong = ~np.isfinite(scores)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"the scores hold {scores[place]} (first at {place}), which cannot be ranked; mend the explainer, or drop such rows"
        )
    return scores


def _rows_of_numbers(scores: ToolOutput) -> np.ndarray:
    """Return nested lists and the like as one array; refuse rows that differ in length."""
    try:
        return np.asarray(scores)
    except (TypeError, ValueError) as ragged:
        raise ValueError(f"the scores are no table of numbers ({ragged}); give one score for each feature of each row") from None


def _class_of_each(target: Labels, classes: Sequence[int], rows: int) -> np.ndarray:
    """Return the class (rows,) whose scores are meant; refuse to guess, and classes that were not explained."""
    if target is None:
        raise ValueError(
            f"these are the scores of {len(classes)} classes ({list(classes)[:10]}), but one class a row is explained at a time; "
            "give target=, the class of each row, such as model.predict_proba(X).argmax(1)"
        )
    return _class_indices(target, rows, classes)


def _class_indices(target: Labels, rows: int, classes: Sequence[int] | None = None) -> np.ndarray:
    """Return one class index a row, from one for each or one for all; refuse labels, and those not among the classes."""
    asked = as_array(target)
    if asked.dtype.kind not in "iu" or asked.shape not in ((), (rows,)):
        raise ValueError(
            f"target is of type {asked.dtype} and shape {asked.shape}, but {rows} rows need the index of a class, one for all or ({rows},)"
        )
    odd = [int(c) for c in asked.reshape(-1) if c < 0 or (classes is not None and c not in classes)]
    if odd:
        raise ValueError(
            f"target holds {odd[0]}, which was not explained; the classes are {'0, 1, ...' if classes is None else list(classes)}"
        )
    return np.broadcast_to(asked, (rows,)).astype(np.int64)


def _refuse_unknown_selection(keep: float | str | None, count: int, *, mask: bool, sparse: bool) -> None:
    """Refuse a size that cannot be kept, one beside a mask, and none beside scores that leave no feature out."""
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r}, but scores are cut at a number of features (1 to {count - 1}) or at a rate between 0 and 1")
    if mask and keep is not None:
        raise ValueError(f"keep={keep} was given together with a mask of truths, which says itself what is kept; leave keep out")
    check.keep_or_penalty(keep, None, count)
    if keep is None and not (mask or sparse):
        raise ValueError(
            "these scores say how much every feature matters, not which of them are kept; give keep=, how many to keep of each row "
            f"(1 to {count - 1}) or a rate such as 0.3"
        )
