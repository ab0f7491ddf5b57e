"""Annotations of what a model must not use, as masks: 1 = irrelevant. Rows of NaN are not annotated."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from lexplain import check

from ..core.rows import as_array


def mask_from_columns(columns: Collection[str], names: Sequence[str]) -> np.ndarray:
    """(d,) of bool: the named columns, for all rows.

    Example:
        >>> mask_from_columns(["age"], ["age", "dose"]).tolist()
        [True, False]
    """
    _require_known(columns, names)
    return np.isin(np.asarray(names, dtype=object), list(columns))


def mask_from_table(table: str | Path | pd.DataFrame, names: Sequence[str], rows: int) -> np.ndarray:
    """(n, d) of 0, 1 and NaN, from a table with one line a mark: the row's number from 0, and the feature's name.

    Rows with no line are NaN: they are not annotated. A line without a feature says that nothing in the row is irrelevant.

    Args:
        table: a CSV file, or a DataFrame, with the columns row and feature.
        names: of the features, in order.
        rows: number of rows of the data.
    """
    read = table if isinstance(table, pd.DataFrame) else pd.read_csv(check.readable(Path(table)), dtype={"feature": "str"})
    missing = [name for name in ("row", "feature") if name not in read.columns]
    if missing:
        raise ValueError(f"the annotation has the columns {list(map(str, read.columns))}; {missing} are needed too")
    numbers = pd.to_numeric(read["row"], errors="coerce").to_numpy(dtype=float)
    bad = ~((numbers >= 0) & (numbers < rows) & (numbers == np.floor(numbers)))
    if bad.any():
        line = int(bad.argmax())
        raise ValueError(f"line {line + 1} marks row {read['row'].iloc[line]!r}, but rows are numbered from 0 to {rows - 1}")
    row, feature = numbers.astype(int), read["feature"].to_numpy(dtype=object)
    there = np.array([isinstance(name, str) for name in feature], dtype=bool)
    _require_known(sorted(set(feature[there])), names)
    place = {name: j for j, name in enumerate(names)}
    mask = np.full((rows, len(names)), np.nan, dtype=np.float32)
    mask[np.unique(row)] = 0
    mask[row[there], [place[name] for name in feature[there]]] = 1
    return mask


def mask_from_image(path: str | Path, shape: Sequence[int]) -> np.ndarray:
    """(height, width) or (channels, height, width) of bool: where a mask image, painted by hand, is not black.

    Args:
        path: a .png file of the size of one input.
        shape: of one input: (height, width), or with channels first.
    """
    from matplotlib.image import imread

    painted = np.asarray(imread(check.readable(Path(path))))
    marked = painted[..., :3].any(-1) if painted.ndim == 3 else painted > 0
    if painted.ndim == 3 and painted.shape[-1] == 4:
        marked &= painted[..., 3] > 0  # what is transparent was not painted
    if marked.shape != tuple(shape)[-2:] or len(shape) not in (2, 3):
        raise ValueError(
            f"the picture is {marked.shape} (height, width), but an input has shape {tuple(shape)}; paint one of the input's size"
        )
    return np.broadcast_to(marked, tuple(shape)).copy()


def mask_from_words(words: Collection[str], vocabulary: Sequence[str], *, ignore_case: bool = False) -> np.ndarray:
    """(d,) of bool: the words of a vocabulary that a model must not use; `*` matches any letters.

    Example:
        >>> mask_from_words(["post*"], ["poster", "God"]).tolist()
        [True, False]
    """
    flags = re.IGNORECASE if ignore_case else 0
    patterns = [re.compile(".*".join(map(re.escape, word.split("*"))), flags) for word in words]
    found = np.array([any(pattern.fullmatch(str(known)) for pattern in patterns) for known in vocabulary], dtype=bool)
    if not found.any():
        raise ValueError(f"none of the words {list(words)[:5]} is in the vocabulary; try ignore_case=True, or a * for any letters")
    return found


def expand_annotation(annotation: object, shape: Sequence[int], annotated_rows: object = None) -> np.ndarray:
    """(n, ...) of bool: one mark for each input, from an annotation of all rows, of some, or of one input for all.

    Args:
        annotation: of the shape of the inputs, where rows of NaN are not annotated; of the shape of one input, for all rows; of the
            first axes alone, such as one mark a token of embedded text; or of some rows, those of `annotated_rows`.
        shape: of the inputs.
        annotated_rows: (m,) numbers of the rows that the annotation describes.
    """
    marks = np.asarray(as_array(annotation), dtype=np.float32)
    whole = tuple(shape)
    if annotated_rows is not None:
        index = _row_numbers(annotated_rows, len(marks), whole[0])
        every = np.zeros((whole[0], *marks.shape[1:]), dtype=np.float32)
        every[index] = marks
        marks = every
    if marks.shape == whole[1:]:
        marks = np.broadcast_to(marks, whole)
    spread = marks.shape + (1,) * (len(whole) - marks.ndim)
    if marks.ndim > len(whole) or marks.ndim == 0 or any(a not in (b, 1) for a, b in zip(spread, whole, strict=True)):
        raise ValueError(
            f"irrelevant_mask has shape {marks.shape}, but inputs of shape {whole} need that shape, or {whole[1:]} for all rows"
        )
    if not np.isin(marks[~np.isnan(marks)], (0, 1)).all():
        raise ValueError("irrelevant_mask must hold 1 (must not be used), 0, or NaN for rows that nobody annotated")
    return np.broadcast_to(np.nan_to_num(marks.reshape(spread)) > 0, whole)


def _row_numbers(rows: object, given: int, count: int) -> np.ndarray:
    """Return the numbers of annotated rows; refuse some that do not fit."""
    index = as_array(rows)
    whole = index.ndim == 1 and len(index) == given and index.dtype.kind in "iu"
    if not whole or (len(index) and not 0 <= index.min() <= index.max() < count):
        raise ValueError(f"annotated_rows must be {given} row numbers from 0 to {count - 1}, one for each row of irrelevant_mask")
    return index


def _require_known(wanted: Collection[str], names: Sequence[str]) -> None:
    """Refuse names that no feature has."""
    odd = [name for name in wanted if name not in names]
    if odd:
        raise ValueError(f"no feature is called {odd[:5]}; the features are: {', '.join(map(str, names[:20]))}{'…' * (len(names) > 20)}")
