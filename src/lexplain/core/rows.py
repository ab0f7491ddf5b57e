"""Functions of raw rows in any form. Only `features` read rows; all other folders use `len` and the functions of this file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .contracts import Json, RawRows

MAX_ROWS = 100_000  # rows per call of a model, by default
CELL_TYPES = frozenset(  # types of cells whose repr is complete
    (str, bytes, bool, int, float, complex, type(None), type(pd.NA), type(pd.NaT), pd.Timestamp, pd.Timedelta, pd.Period, pd.Interval)
) | {Decimal, date}


def as_array(X: RawRows) -> np.ndarray:
    """Rows as an array. Tensors, or lists of them, may be on any device and carry gradients."""
    if isinstance(X, (list, tuple)) and X and all(isinstance(each, Tensor) and each.shape == X[0].shape for each in X):
        X = torch.stack(list(X))
    if isinstance(X, Tensor):
        X = X.detach().cpu()
        return np.asarray(X.float() if X.dtype is torch.bfloat16 else X)  # NumPy has no bfloat16
    return np.asarray(X)


def take_rows(rows: RawRows, index: np.ndarray) -> RawRows:
    """Take some rows of a DataFrame, a Series, an array, a tensor or a sequence; None stays None."""
    if rows is None:
        return None
    if isinstance(rows, (pd.DataFrame, pd.Series)):
        return rows.iloc[index]
    return [rows[i] for i in index] if isinstance(rows, Sequence) else rows[index]


def joined_rows(others: RawRows, rows: RawRows) -> RawRows:
    """Join two DataFrames, since a category may be in only one of them; for other forms return `rows` alone."""
    return pd.concat([others, rows]) if isinstance(others, pd.DataFrame) and isinstance(rows, pd.DataFrame) else rows


def rows_digest(rows: RawRows) -> bytes | None:
    """Return a key that rows share if all their cells, and the types of the cells, are equal. None: some cells cannot be compared."""
    content = hashlib.blake2b(digest_size=16)
    try:
        _add_content(content, rows)
    except (TypeError, ValueError, RecursionError):
        return None
    return content.digest()


def _add_content(content: hashlib.blake2b, rows: RawRows) -> None:
    """Add the type and the content of rows, and of their parts, to a hash."""
    label, parts = _label_and_parts(rows)
    content.update(f"{type(rows).__name__} {label!r};".encode())
    for part in parts:
        _add_content(content, part)


def _label_and_parts(rows: RawRows) -> tuple[object, Iterable[RawRows]]:
    """What determines rows of a type: a label whose repr is complete, and parts. Raise TypeError for types whose content is unknown."""
    if type(rows) in CELL_TYPES:
        return rows, ()
    if isinstance(rows, (list, tuple)):
        return (list(rows), ()) if CELL_TYPES.issuperset(map(type, rows)) else (len(rows), rows)
    if isinstance(rows, pd.DataFrame):
        columns = [rows.iloc[:, j] for j in range(rows.shape[1])]
        return rows.shape, [list(rows.columns), *(c.to_numpy() if isinstance(c.dtype, np.dtype) else c.array for c in columns)]
    if isinstance(rows, pd.Series):
        return None, [rows.to_frame()]
    if isinstance(rows, pd.Categorical):
        return rows.ordered, [rows.codes, rows.categories.array]
    if isinstance(rows, pd.api.extensions.ExtensionArray):
        return rows.dtype, [rows.to_numpy(object)]
    if isinstance(rows, Tensor):
        return rows.dtype, [as_array(rows)]
    if isinstance(rows, (np.ndarray, np.generic)) and not isinstance(rows, np.ma.MaskedArray):
        values, of = np.asarray(rows), (rows.shape, rows.dtype)
        if values.dtype.hasobject:  # its bytes are memory addresses
            return of, [values.ravel().tolist()]
        content = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data  # tobytes would copy
        return (*of, hashlib.blake2b(content, digest_size=16).digest()), ()
    raise TypeError(f"A {type(rows).__name__} may contain more than can be compared.")


def choose_cells(own: RawRows, kept: np.ndarray, other: RawRows) -> np.ndarray | Tensor:
    """Cells of one array or tensor where `kept` is True, of another of the same shape elsewhere; their type is that of `own`."""
    if isinstance(own, Tensor):
        return torch.where(torch.from_numpy(kept).to(own.device), own, torch.as_tensor(other, dtype=own.dtype, device=own.device))
    return np.where(kept, as_array(own), as_array(other))


def plain(number: Json) -> Json:
    """A NumPy number as a Python number; other values unchanged."""
    return number.item() if isinstance(number, np.generic) else number
