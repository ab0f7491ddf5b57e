"""The types of a table's columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..core.contracts import Json, RawRows
from .tables import holds_categories


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
