"""Functions of raw rows in any form. Only `features` read rows; all other folders use `len` and the functions of this file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .contracts import Json, RawRows

MAX_ROWS = 100_000  # rows per call of a model, by default


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


def rows_digest(rows: RawRows) -> bytes:
    """Return a key that equal rows share."""
    if isinstance(rows, pd.DataFrame):
        content = pd.util.hash_pandas_object(rows, index=False).to_numpy().tobytes()
        return hashlib.blake2b(content + repr(list(rows.columns)).encode(), digest_size=16).digest()
    try:
        values = np.ascontiguousarray(as_array(rows))
    except ValueError:  # rows of different lengths have one digest each
        return hashlib.blake2b(b"".join(map(rows_digest, rows)), digest_size=16).digest()
    return hashlib.blake2b(values.tobytes() + str((values.shape, values.dtype)).encode(), digest_size=16).digest()


def choose_cells(own: RawRows, kept: np.ndarray, other: RawRows) -> np.ndarray | Tensor:
    """Cells of one array or tensor where `kept` is True, of another of the same shape elsewhere; their type is that of `own`."""
    if isinstance(own, Tensor):
        return torch.where(torch.from_numpy(kept).to(own.device), own, torch.as_tensor(other, dtype=own.dtype, device=own.device))
    return np.where(kept, as_array(own), as_array(other))


def plain(number: Json) -> Json:
    """A NumPy number as a Python number; other values unchanged."""
    return number.item() if isinstance(number, np.generic) else number
