"""Annotations of inputs that a model must not use, as masks: 1 = must not be used. Rows of NaN are not annotated."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from lexplain import check

from ..core.rows import as_array


def mask_from_columns(columns: Collection[str], names: Sequence[str]) -> np.ndarray:
    """Annotation (d,) of bool that marks the named columns, for all rows.

    Example:
        >>> mask_from_columns(["age"], ["age", "dose"]).tolist()
        [True, False]
    """
    _require_known(columns, names)
    return np.isin(np.asarray(names, dtype=object), list(columns))


def mask_from_table(table: str | Path | pd.DataFrame, names: Sequence[str], rows: int) -> np.ndarray:
    """Annotation (n, d) of 0, 1 and NaN, from a table with one line per mark: a row number from 0, and a feature name.

    Rows without a line are NaN: they are not annotated. A line without a feature means that the row may use all features.

    Args:
        table: CSV file or DataFrame with the columns row and feature.
        names: Names of the features, in order.
        rows: Number of rows of the data.
    """
    read = table if isinstance(table, pd.DataFrame) else pd.read_csv(check.readable(Path(table)), dtype={"feature": "str"})
    missing = [name for name in ("row", "feature") if name not in read.columns]
    if missing:
        raise ValueError(f"The annotation needs the columns row and feature: {missing} missing. It has {list(map(str, read.columns))}.")
    numbers = pd.to_numeric(read["row"], errors="coerce").to_numpy(dtype=float)
    bad = ~((numbers >= 0) & (numbers < rows) & (numbers == np.floor(numbers)))
    if bad.any():
        line = int(bad.argmax())
        raise ValueError(f"Line {line + 1} of the annotation marks row {read['row'].iloc[line]!r}; rows are numbered from 0 to {rows - 1}.")
    row, feature = numbers.astype(int), read["feature"].to_numpy(dtype=object)
    named = np.array([isinstance(name, str) for name in feature], dtype=bool)
    _require_known(sorted(set(feature[named])), names)
    position = {name: j for j, name in enumerate(names)}
    mask = np.full((rows, len(names)), np.nan, dtype=np.float32)
    mask[np.unique(row)] = 0
    mask[row[named], [position[name] for name in feature[named]]] = 1
    return mask


def mask_from_image(path: str | Path, shape: Sequence[int]) -> np.ndarray:
    """Annotation (height, width) or (channels, height, width) of bool that marks the pixels of a mask image that are not black.

    Args:
        path: A .png file of the size of one input.
        shape: Shape of one input: (height, width), or with channels first.
    """
    from matplotlib.image import imread

    painted = np.asarray(imread(check.readable(Path(path))))
    marked = painted[..., :3].any(-1) if painted.ndim == 3 else painted > 0
    if painted.ndim == 3 and painted.shape[-1] == 4:
        marked &= painted[..., 3] > 0  # transparent pixels are not marked
    if marked.shape != tuple(shape)[-2:] or len(shape) not in (2, 3):
        raise ValueError(f"The mask image is {marked.shape}, but inputs have shape {tuple(shape)}. Use an image of the size of one input.")
    return np.broadcast_to(marked, tuple(shape)).copy()


def mask_from_words(words: Collection[str], vocabulary: Sequence[str], *, ignore_case: bool = False) -> np.ndarray:
    """Annotation (d,) of bool that marks words of a vocabulary; `*` matches any letters.

    Example:
        >>> mask_from_words(["post*"], ["poster", "God"]).tolist()
        [True, False]
    """
    flags = re.IGNORECASE if ignore_case else 0
    patterns = [re.compile(".*".join(map(re.escape, word.split("*"))), flags) for word in words]
    marks = np.array([any(pattern.fullmatch(str(known)) for pattern in patterns) for known in vocabulary], dtype=bool)
    if not marks.any():
        raise ValueError(f"None of the words {list(words)[:5]} is in the vocabulary. Pass ignore_case=True, or use * for any letters.")
    return marks


def expand_annotation(annotation: object, shape: Sequence[int], annotated_rows: object = None) -> np.ndarray:
    """Expand an annotation of all rows, of some rows, or of one input for all rows, to all inputs: (n, ...) of bool.

    Args:
        annotation: Array of the shape of the inputs (rows of NaN are not annotated), of the shape of one input (for all rows), or of
            their first axes, such as one entry per token of embedded text. With `annotated_rows` it has one entry per such row.
        shape: Shape of the inputs.
        annotated_rows: (m,) numbers of the rows that the annotation describes.
    """
    marks = np.asarray(as_array(annotation), dtype=np.float32)
    full = tuple(shape)
    if annotated_rows is not None:
        index = _row_numbers(annotated_rows, len(marks), full[0])
        expanded = np.zeros((full[0], *marks.shape[1:]), dtype=np.float32)
        expanded[index] = marks
        marks = expanded
    if marks.shape == full[1:]:
        marks = np.broadcast_to(marks, full)
    spread = marks.shape + (1,) * (len(full) - marks.ndim)
    if marks.ndim > len(full) or marks.ndim == 0 or any(a not in (b, 1) for a, b in zip(spread, full, strict=True)):
        raise ValueError(f"irrelevant_mask has shape {marks.shape}. Inputs of shape {full} need that shape, or {full[1:]} for all rows.")
    if not np.isin(marks[~np.isnan(marks)], (0, 1)).all():
        raise ValueError("irrelevant_mask must contain only 1 (must not be used), 0, and NaN for rows that are not annotated.")
    return np.broadcast_to(np.nan_to_num(marks.reshape(spread)) > 0, full)


def _row_numbers(rows: object, needed: int, count: int) -> np.ndarray:
    """The numbers of the annotated rows. Raises if they do not fit."""
    index = as_array(rows)
    fits = index.ndim == 1 and len(index) == needed and index.dtype.kind in "iu"
    if not fits or (len(index) and not 0 <= index.min() <= index.max() < count):
        raise ValueError(f"annotated_rows must be {needed} row numbers from 0 to {count - 1}, one per row of irrelevant_mask.")
    return index


def _require_known(requested: Collection[str], names: Sequence[str]) -> None:
    """Raise if a name is not the name of a feature."""
    unknown = [name for name in requested if name not in names]
    if unknown:
        raise ValueError(f"Unknown features: {unknown[:5]}. The features are: {', '.join(map(str, names[:20]))}{'…' * (len(names) > 20)}.")
