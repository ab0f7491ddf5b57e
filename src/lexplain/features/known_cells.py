"""Decode rows so that numbers of known rows stay unchanged."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from torch import Tensor

from ..core.contracts import RawRows
from ..core.rows import as_array

if TYPE_CHECKING:
    from .columns import Columns


class KnownCells:
    """`Columns.decode`, except that a number whose encoding is that of a cell of the known rows is that cell, unchanged.

    Numbers are encoded in single precision. If several known cells of a column have the same encoding, the first of them is used for all:
    0.0 and -0.0, or numbers that differ by less than a ten-millionth of their distance to the column's mean. Memory: the distinct numbers
    of each column, which are sorted when the first rows are decoded.

    Args:
        features: Fitted columns.
        known_rows: Raw rows with the columns of the fit.
    """

    def __init__(self, features: Columns, known_rows: tuple[RawRows, ...]) -> None:
        self.features, self.known_rows = features, known_rows

    def __call__(self, x: Tensor) -> pd.DataFrame | np.ndarray:
        """Convert encoded rows to raw rows."""
        decoded, encoded = self.features.decode(x), x.detach().cpu().numpy()
        if self.features._dtype is not None:  # one array
            cells = np.array(decoded)
            for j, (start, keys, known) in self._known.items():
                cells[:, j] = _looked_up(encoded[:, start], keys, known, cells[:, j])
            return pd.DataFrame(cells, columns=decoded.columns) if isinstance(decoded, pd.DataFrame) else cells
        assert isinstance(decoded, pd.DataFrame)  # an array has one type
        columns = {j: decoded.iloc[:, j] for j in range(decoded.shape[1])}
        for j, (start, keys, known) in self._known.items():
            found = _looked_up(encoded[:, start], keys, known, columns[j].to_numpy(known.dtype))
            columns[j] = pd.Series(found, dtype=columns[j].dtype)
        return pd.DataFrame(columns).set_axis(decoded.columns, axis=1)

    @cached_property
    def _known(self) -> dict[int, tuple[int, np.ndarray, np.ndarray]]:
        """Of each raw column of numbers: the position of its encoding, its distinct encoded values in ascending order, and their cells."""
        features, known = self.features, {}
        assert features.mean is not None and features.scale is not None
        checked = map(features.check, self.known_rows)
        tables = [rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(as_array(rows)) for rows in checked]
        for j, (start, each) in enumerate(zip(features._starts, features.types, strict=True)):
            if each.categories is None:
                cells = np.concatenate([each.pack(rows.iloc[:, j]) for rows in tables])
                encoded = ((cells.astype(np.float64) - features.mean[start]) / features.scale[start]).astype(np.float32)  # as in encode
                keys, first = np.unique(encoded, return_index=True)
                known[j] = (start, keys, cells[first])
        return known


def _looked_up(encoded: np.ndarray, keys: np.ndarray, known: np.ndarray, decoded: np.ndarray) -> np.ndarray:
    """The known cells (n,) of encoded numbers that are among the keys, and decoded cells elsewhere."""
    place = np.searchsorted(keys, encoded).clip(max=len(keys) - 1)
    return np.where(keys[place] == encoded, known[place], decoded)
