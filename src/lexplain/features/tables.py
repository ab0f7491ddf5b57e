"""Checks of raw tables, and the types of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..core.contracts import Json, RawRows
from ..core.rows import as_array, plain

MOST_CATEGORIES = 1000  # a column with more is likely an identifier, and its encoding would not fit into memory
FLOAT32_MAX = float(np.finfo(np.float32).max)


def table(X: RawRows) -> np.ndarray | pd.DataFrame:
    """Return a DataFrame unchanged and other rows as a 2-D array; raise if they are not a table. Numbers are not checked."""
    if not isinstance(X, pd.DataFrame):
        return two_axes(X)
    invalid = [label for label in X.columns if not isinstance(label, (str, int, float, np.number))]
    if invalid:
        raise ValueError(f"Column label {invalid[0]!r} is neither text nor a number. Rename it, such as with X.columns.map(str).")
    names = [str(label) for label in X.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"X has more than one column named {twice[:5]}. Rename them, so that each column has its own name.")
    if 0 in X.shape:
        two_axes(np.zeros(X.shape))  # raises
    for j in (j for j, dtype in enumerate(X.dtypes) if holds_categories(dtype)):
        categories(X.iloc[:, j])
    return X


def holds_categories(dtype: object) -> bool:
    """Whether a column of this type is categorical: pandas' category, or text."""
    return isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)) or dtype == np.dtype(object)


def categories(column: pd.Series[Any]) -> None:
    """Check that a categorical column has no missing values, no mixed types and not too many categories."""
    _require_no_missing(column)
    own = isinstance(column.dtype, pd.CategoricalDtype)
    kind = pd.api.types.infer_dtype(column.cat.categories if own else column, skipna=False)
    if kind not in (("string", "integer", "floating", "boolean") if own else ("string",)):
        raise ValueError(
            f"could not convert string to float: column {str(column.name)!r} of type {column.dtype} contains {_cell_types(column)}. "
            "Make it all numbers, such as with X.infer_objects(), or all text, such as with astype(str)."
        )
    many = len(column.cat.categories) if own else column.nunique()
    if many > MOST_CATEGORIES:
        raise ValueError(
            f"Column {str(column.name)!r} has {many:,} categories; at most {MOST_CATEGORIES:,} are supported. "
            "Drop it if it is an identifier, convert numbers stored as text, or merge rare categories."
        )


def known_categories(column: pd.Series[Any], known: Sequence[Json]) -> np.ndarray:
    """Return the index (n,) of each cell's category in the fit; raise for missing or unknown categories."""
    _require_no_missing(column)
    index = pd.Index(known)
    if isinstance(column.dtype, pd.CategoricalDtype):
        found: np.ndarray = index.get_indexer(column.cat.categories)[column.cat.codes.to_numpy()]
    else:
        found = index.get_indexer(pd.Index(column))
    if (found < 0).any():
        row = int((found < 0).argmax())
        raise ValueError(
            f"Column {str(column.name)!r} contains {plain(column.iloc[row])!r} in row {row}, which did not occur in fit "
            f"(known: {', '.join(repr(name) for name in known[:5])}{', …' if len(known) > 5 else ''}). "
            "Drop such rows, or fit again with rows that contain it."
        )
    return found


def _require_no_missing(column: pd.Series[Any]) -> None:
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"Input X contains NaN (first in row {int(missing.argmax())}, column {column.name}). Missing values are not supported yet. "
            "Impute or drop such rows, or make them a category, such as with fillna('unknown')."
        )


def _cell_types(column: pd.Series[Any]) -> str:
    """What a column contains instead of numbers: its first text, otherwise the type of its cells."""
    first = next((row for row, cell in enumerate(column) if isinstance(cell, str)), None)
    if first is not None:
        return f"text ({column.iloc[first]!r} in row {first})"
    cells = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    return f"{pd.api.types.infer_dtype(cells)} values"


def two_axes(X: RawRows) -> np.ndarray:
    """Return rows as an array (rows, columns); raise for sparse matrices, other shapes, and empty tables."""
    if hasattr(X, "toarray"):
        raise TypeError("X is a sparse matrix, but dense data is needed. Use X.toarray().")
    values = as_array(X)
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: numbers must be real.")
    if values.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {values.ndim}D array instead: X has shape {values.shape}, but (rows, columns) is needed. "
            "Reshape your data with X.reshape(-1, 1) if it has one column, or X.reshape(1, -1) if it is one row."
        )
    if values.shape[0] == 0 or values.shape[1] == 0:
        raise ValueError(
            f"Found array with {values.shape[0]} sample(s) and {values.shape[1]} feature(s) (shape={values.shape}) "
            "while a minimum of 1 is required."
        )
    return values


def finite_numbers(X: RawRows) -> np.ndarray:
    """Return a table as an array of doubles; raise for strings, NaN, infinity and other shapes, with the column's name."""
    names = [str(c) for c in X.columns] if isinstance(X, pd.DataFrame) else None
    if isinstance(X, pd.DataFrame):
        bad = [j for j, dtype in enumerate(X.dtypes) if not pd.api.types.is_numeric_dtype(dtype)]
        if bad:
            cells = _cell_types(X.iloc[:, bad[0]])
            raise ValueError(
                f"could not convert string to float: columns {[str(X.columns[j]) for j in bad]} contain {cells}, but numbers are needed. "
                "Encode them first, or use X.infer_objects() if they are numbers."
            )
        if any(isinstance(dtype, pd.api.extensions.ExtensionDtype) for dtype in X.dtypes):
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    raw = two_axes(X)
    try:
        values = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as broken:
        raise type(broken)(f"{broken}: every column must be numeric. Encode text first, or pass a DataFrame.") from None
    if not max(-float(values.min()), float(values.max())) <= FLOAT32_MAX:  # both are NaN if any value is
        wrong = ~(np.abs(values) <= FLOAT32_MAX)
        row, column = (int(i[0]) for i in np.nonzero(wrong))
        label = names[column] if names else str(column)
        kind = "NaN" if np.isnan(values[row, column]) else "infinity" if np.isinf(values[row, column]) else "a value too large for float32"
        raise ValueError(
            f"Input X contains {kind} (first in row {row}, column {label}). Missing values are not supported yet: impute or drop such rows."
        )
    return values


@dataclass(frozen=True)
class ColumnType:
    """The type of a raw column: numbers, encoded unchanged, or categories, encoded as 0 and 1."""

    dtype: np.dtype[Any] | pd.api.extensions.ExtensionDtype  # NumPy's or pandas' type; decoded columns have it
    categories: tuple[Json, ...] | None = None  # in the order of the encoding; None: numbers

    @classmethod
    def of(cls, column: pd.Series[Any]) -> ColumnType:
        """The type of a column of training rows."""
        if isinstance(column.dtype, pd.CategoricalDtype):  # without unused categories: a model may not know them
            return cls(column.dtype, tuple(column.cat.remove_unused_categories().cat.categories.tolist()))
        if holds_categories(column.dtype):
            return cls(column.dtype, tuple(sorted(column.unique().tolist())))
        return cls(column.dtype)

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return 1 if self.categories is None else len(self.categories)

    def decode(self, block: np.ndarray) -> RawRows:
        """Raw cells (n,) of an encoded block (n, width): the most likely category, or numbers of the column's type."""
        if self.categories is not None:
            return self.unpack(block.argmax(1))
        own = getattr(self.dtype, "numpy_dtype", self.dtype)  # of types such as Int64
        cells = as_type(block[:, 0], own if isinstance(own, np.dtype) else np.dtype(float))
        return pd.array(cells, dtype=self.dtype) if own is not self.dtype else cells  # type: ignore[arg-type]  # pandas' stubs know some types only

    def pack(self, column: pd.Series[Any]) -> np.ndarray:
        """The cells (n,) as numbers: of categories, their position."""
        if self.categories is not None:
            return known_categories(column, self.categories)
        own = getattr(self.dtype, "numpy_dtype", self.dtype)
        return column.to_numpy(dtype=own if isinstance(own, np.dtype) else np.dtype(float))

    def unpack(self, cells: np.ndarray) -> RawRows:
        """The cells that `pack` turned into numbers."""
        if self.categories is not None:
            each = pd.Series(list(self.categories), dtype=self.dtype).array
            return pd.Series(each.take(cells), dtype=self.dtype)  # a bare array of objects would become pandas' text
        return pd.array(cells, dtype=self.dtype) if not isinstance(self.dtype, np.dtype) else cells.astype(self.dtype)  # type: ignore[call-overload]  # pandas' stubs know some types only

    def state(self) -> dict[str, Any]:
        """The type as JSON values."""
        categories = None if self.categories is None else list(self.categories)
        if not isinstance(self.dtype, pd.CategoricalDtype):
            return {"dtype": str(self.dtype), "categories": categories}
        declared = self.dtype.categories
        stored = {"values": declared.tolist(), "dtype": str(declared.dtype), "ordered": bool(self.dtype.ordered)}
        return {"dtype": stored, "categories": categories}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> ColumnType:
        """Rebuild the type from its `state`."""
        stored, categories = state["dtype"], state["categories"]
        if isinstance(stored, str):
            dtype = pd.api.types.pandas_dtype(stored)
        else:
            dtype = pd.CategoricalDtype(pd.Index(stored["values"], dtype=stored["dtype"]), ordered=stored["ordered"])
        return cls(dtype, None if categories is None else tuple(categories))


def as_type(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Convert real numbers to a type: integers are rounded and clipped to its range, booleans are True above one half."""
    if dtype.kind == "b":
        return values > 0.5
    if dtype.kind in "iu":
        low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
        high = high if high <= np.iinfo(dtype).max else float(np.nextafter(high, 0))  # no float is 2**63 - 1
        values = np.clip(np.rint(values), low, high)
    return values.astype(dtype, copy=False)


def storable(cells: np.ndarray) -> np.ndarray:
    """A copy of numbers in a type that files can hold: their own, or doubles for longer numbers and objects."""
    kept = cells.dtype.kind in "biuf" and cells.dtype.itemsize <= 8
    return np.array(cells, dtype=cells.dtype.newbyteorder("=") if kept else float)


def choose_column(
    own: pd.Series[Any], kept: np.ndarray, other: pd.Series[Any], dtype: np.dtype[Any] | pd.api.extensions.ExtensionDtype
) -> RawRows:
    """The cells (n,) of one column where `kept` is True and of another elsewhere, both of the same kind."""
    if own.dtype != other.dtype and isinstance(own.dtype, pd.CategoricalDtype):  # some of the categories are missing in one of them
        own, other = own.astype(dtype), other.astype(dtype)
    if isinstance(own.dtype, pd.CategoricalDtype) and isinstance(other.dtype, pd.CategoricalDtype):
        return pd.Categorical.from_codes(np.where(kept, own.cat.codes, other.cat.codes), dtype=own.dtype)
    if isinstance(own.dtype, np.dtype) and isinstance(other.dtype, np.dtype):
        cells = np.where(kept, own.to_numpy(), other.to_numpy())
        return pd.Series(cells, dtype=object) if cells.dtype == object else cells  # pandas would guess a type for text
    return own.reset_index(drop=True).where(pd.Series(kept), other.reset_index(drop=True))
