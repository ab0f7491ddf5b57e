"""Tables as they are given, and the types of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..core.contracts import Json, RawRows
from ..core.rows import as_array, plain

MOST_CATEGORIES = 1000  # a column with more names rows rather than kinds of them, and its encoding would not fit into memory
FLOAT32_MAX = float(np.finfo(np.float32).max)


def table(X: RawRows) -> np.ndarray | pd.DataFrame:
    """Return a DataFrame as it is, and other rows as an array of two axes; refuse what is no table. Its numbers are not looked at."""
    if not isinstance(X, pd.DataFrame):
        return two_axes(X)
    odd = [label for label in X.columns if not isinstance(label, (str, int, float, np.number))]
    if odd:
        raise ValueError(f"the column label {odd[0]!r} is neither text nor a number; rename it, such as with X.columns.map(str)")
    names = [str(label) for label in X.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"X has more than one column named {twice[:5]}; rename them, so that each column has a name of its own")
    if 0 in X.shape:
        two_axes(np.zeros(X.shape))  # which refuses it
    for j in (j for j, dtype in enumerate(X.dtypes) if holds_categories(dtype)):
        categories(X.iloc[:, j])
    return X


def holds_categories(dtype: object) -> bool:
    """Whether a column of this type holds categories: pandas' own, or text."""
    return isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)) or dtype == np.dtype(object)


def categories(column: pd.Series[Any]) -> None:
    """Refuse a column of categories that lacks some, mixes text with numbers, holds other things, or has too many to encode."""
    _require_no_missing(column)
    own = isinstance(column.dtype, pd.CategoricalDtype)
    kind = pd.api.types.infer_dtype(column.cat.categories if own else column, skipna=False)
    if kind not in (("string", "integer", "floating", "boolean") if own else ("string",)):
        raise ValueError(
            f"could not convert string to float: column {str(column.name)!r} is of type {column.dtype}, but holds {_cell_types(column)}; "
            "make it all numbers, such as with X.infer_objects(), or all text, such as with astype(str)"
        )
    many = len(column.cat.categories) if own else column.nunique()
    if many > MOST_CATEGORIES:
        raise ValueError(
            f"column {str(column.name)!r} has {many:,} categories, but at most {MOST_CATEGORIES:,} can be encoded; "
            "leave it out if it names rows, make it numbers if it holds numbers as text, or join rare categories"
        )


def known_categories(column: pd.Series[Any], known: Sequence[Json]) -> np.ndarray:
    """Return the positions (n,) of a column's cells among the categories of the fit; refuse a missing or unknown one."""
    _require_no_missing(column)
    index = pd.Index(known)
    if isinstance(column.dtype, pd.CategoricalDtype):
        at: np.ndarray = index.get_indexer(column.cat.categories)[column.cat.codes.to_numpy()]
    else:
        at = index.get_indexer(pd.Index(column))
    if (at < 0).any():
        row = int((at < 0).argmax())
        raise ValueError(
            f"column {str(column.name)!r} holds {plain(column.iloc[row])!r} in row {row}, which is no category of the fit "
            f"({', '.join(repr(name) for name in known[:5])}{', …' if len(known) > 5 else ''}); "
            "leave such rows out, or fit again with rows that hold it"
        )
    return at


def _require_no_missing(column: pd.Series[Any]) -> None:
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"Input X contains NaN (first in row {int(missing.argmax())}, column {column.name}); impute or drop such rows, or make them "
            "a category of their own, such as with fillna('unknown'): missing values are not supported yet"
        )


def _cell_types(column: pd.Series[Any]) -> str:
    """What a column holds beside numbers: its first text, else the type of its cells."""
    at = next((row for row, cell in enumerate(column) if isinstance(cell, str)), None)
    if at is not None:
        return f"text ({column.iloc[at]!r} in row {at})"
    cells = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    return f"{pd.api.types.infer_dtype(cells)} values"


def two_axes(X: RawRows) -> np.ndarray:
    """Return rows as an array (rows, columns); refuse sparse matrices, other shapes, and no rows."""
    if hasattr(X, "toarray"):
        raise TypeError("a sparse matrix was passed, but dense data is needed; use X.toarray()")
    values = as_array(X)
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: numbers must be real")
    if values.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {values.ndim}D array instead: X has shape {values.shape}, but (rows, columns) is needed. "
            "Reshape your data with X.reshape(-1, 1) if it has one column, or X.reshape(1, -1) if it is one row"
        )
    if values.shape[0] == 0 or values.shape[1] == 0:
        raise ValueError(
            f"Found array with {values.shape[0]} sample(s) and {values.shape[1]} feature(s) (shape={values.shape}) "
            "while a minimum of 1 is required."
        )
    return values


def finite_numbers(X: RawRows) -> np.ndarray:
    """Return a table as an array of doubles; refuse strings, NaN, infinity and other shapes, naming the column."""
    names = [str(c) for c in X.columns] if isinstance(X, pd.DataFrame) else None
    if isinstance(X, pd.DataFrame):
        bad = [j for j, dtype in enumerate(X.dtypes) if not pd.api.types.is_numeric_dtype(dtype)]
        if bad:
            told = _cell_types(X.iloc[:, bad[0]])
            raise ValueError(
                f"could not convert string to float: columns {[str(X.columns[j]) for j in bad]} hold {told}, but numbers are needed; "
                "encode them first, or use X.infer_objects() if they are numbers"
            )
        if any(isinstance(dtype, pd.api.extensions.ExtensionDtype) for dtype in X.dtypes):
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    raw = two_axes(X)
    try:
        values = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as broken:
        raise type(broken)(f"{broken}: every column must hold numbers; encode text first, or give a DataFrame") from None
    if not max(-float(values.min()), float(values.max())) <= FLOAT32_MAX:  # both are NaN where any value is
        wrong = ~(np.abs(values) <= FLOAT32_MAX)
        row, column = (int(i[0]) for i in np.nonzero(wrong))
        label = names[column] if names else str(column)
        kind = "NaN" if np.isnan(values[row, column]) else "infinity" if np.isinf(values[row, column]) else "a value too large for float32"
        raise ValueError(
            f"Input X contains {kind} (first in row {row}, column {label}); impute or drop such rows, missing values are not supported yet"
        )
    return values


@dataclass(frozen=True)
class ColumnType:
    """What a raw column holds: numbers, encoded as they are, or one of some categories, encoded as 0 and 1."""

    dtype: np.dtype[Any] | pd.api.extensions.ExtensionDtype  # NumPy's or pandas' type, which a model is given back
    categories: tuple[Json, ...] | None = None  # in the order of the encoding; None: numbers

    @classmethod
    def of(cls, column: pd.Series[Any]) -> ColumnType:
        """The type of a column of training rows."""
        if isinstance(column.dtype, pd.CategoricalDtype):  # a model may not know those that no row holds, so that none is made up
            return cls(column.dtype, tuple(column.cat.remove_unused_categories().cat.categories.tolist()))
        if holds_categories(column.dtype):
            return cls(column.dtype, tuple(sorted(column.unique().tolist())))
        return cls(column.dtype)

    @property
    def width(self) -> int:
        """How many encoded columns it takes."""
        return 1 if self.categories is None else len(self.categories)

    def decode(self, block: np.ndarray) -> RawRows:
        """Raw cells (n,) of an encoded block (n, width): the likeliest category, or numbers of the column's type."""
        if self.categories is not None:
            each = pd.Series(list(self.categories), dtype=self.dtype).array
            return pd.Series(each.take(block.argmax(1)), dtype=self.dtype)  # a bare array of objects would become pandas' text
        own = getattr(self.dtype, "numpy_dtype", self.dtype)  # of Int64 and its like
        cells = as_type(block[:, 0], own if isinstance(own, np.dtype) else np.dtype(float))
        return pd.array(cells, dtype=self.dtype) if own is not self.dtype else cells  # type: ignore[arg-type]  # pandas' stubs know some types only

    def state(self) -> dict[str, Any]:
        """The type as plain JSON values."""
        categories = None if self.categories is None else list(self.categories)
        if not isinstance(self.dtype, pd.CategoricalDtype):
            return {"dtype": str(self.dtype), "categories": categories}
        declared = self.dtype.categories
        stored = {"values": declared.tolist(), "dtype": str(declared.dtype), "ordered": bool(self.dtype.ordered)}
        return {"dtype": stored, "categories": categories}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> ColumnType:
        """The type that `state` was read from."""
        stored, categories = state["dtype"], state["categories"]
        if isinstance(stored, str):
            dtype = pd.api.types.pandas_dtype(stored)
        else:
            dtype = pd.CategoricalDtype(pd.Index(stored["values"], dtype=stored["dtype"]), ordered=stored["ordered"])
        return cls(dtype, None if categories is None else tuple(categories))


def as_type(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Real numbers as numbers of a type: whole ones are rounded and kept in its range, truths are those above one half."""
    if dtype.kind == "b":
        return values > 0.5
    if dtype.kind in "iu":
        least, most = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
        most = most if most <= np.iinfo(dtype).max else float(np.nextafter(most, 0))  # 2**63 - 1 is no float, and 2**63 no int64
        values = np.clip(np.rint(values), least, most)
    return values.astype(dtype, copy=False)
