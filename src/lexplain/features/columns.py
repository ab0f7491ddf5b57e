"""The columns of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..core.contracts import Encoded, RawRows
from ..core.rows import as_array, choose_cells
from .feature_kind import FeatureKind, truth_of, truth_values
from .known_cells import KnownCells
from .tables import ColumnType, as_type, choose_column, finite_numbers, known_categories, storable, table, two_axes

MIN_BINS, MAX_BINS, ALL_BINS = 4, 16, 360  # bins per number: fewer where there are many columns, so that networks stay small
QUANTILE_ROWS = 20_000  # rows that quantiles are computed from, evenly spaced


def bins_between_quantiles(values: np.ndarray, columns: Sequence[int], count: int) -> np.ndarray:
    """At most `count` bins of each of these columns (n, c): its number in `columns`, lower edge and width, (m, 3)."""
    sample, bins = values[:: -(-len(values) // QUANTILE_ROWS)], []
    for column, edges in zip(columns, np.quantile(sample, np.linspace(0, 1, count + 1), axis=0, method="inverted_cdf").T, strict=True):
        distinct = np.unique(edges)
        bins += [(column, low, high - low) for low, high in pairwise(distinct.tolist())]
    return np.array(bins, dtype=np.float64).reshape(-1, 3)


@dataclass(frozen=True, kw_only=True)
class Columns(FeatureKind):
    """Each column of a table is a feature. Encoded columns are standardised, so that 0 is the mean.

    A categorical column (text, or pandas' category) has one encoded column per category; all of them are visible or hidden together.
    Shapes: b or n rows, d features, D encoded columns.
    """

    kind: ClassVar[str] = "columns"
    columns: tuple[str, ...] = ()  # names of the raw columns, in order
    frame: bool = False  # whether the model expects a DataFrame
    labels: tuple[str | int | float, ...] = ()  # column labels of the DataFrame
    types: tuple[ColumnType, ...] = ()  # one per raw column
    mean: np.ndarray | None = None  # (D,) of the encoded columns
    scale: np.ndarray | None = None  # (D,)
    bins: np.ndarray | None = None  # (m, 3) between quantiles of numbers: encoded column, lower edge, width; None: files before bins

    def fit(self, X: RawRows) -> Columns:
        """Learn names, categories, means and scales from training rows."""
        return self._fitted(X)[0]

    def fit_encode(self, X: RawRows) -> tuple[Columns, Encoded]:
        """Fit, and encode the same rows, in one pass."""
        fitted, values = self._fitted(X)
        return fitted, Encoded(fitted._standardised(values))

    def _fitted(self, X: RawRows) -> tuple[Columns, np.ndarray]:
        """The fitted object, and the rows as numbers (n, D)."""
        rows = table(X)
        if isinstance(rows, pd.DataFrame):
            labels = tuple(rows.columns.tolist())
            types = tuple(ColumnType.of(rows.iloc[:, j]) for j in range(rows.shape[1]))
        else:
            labels = tuple(f"x{j + 1}" for j in range(rows.shape[1]))
            types = (ColumnType(rows.dtype if rows.dtype.kind in "biuf" else np.dtype(float)),) * rows.shape[1]
        unfitted = replace(self, columns=tuple(map(str, labels)), frame=isinstance(rows, pd.DataFrame), labels=labels, types=types)
        unfitted._check_fit()
        values = unfitted._numbers(rows)
        # Categories of a column share a scale, so that their total variance is 1; with separate scales, rare ones would be huge.
        scale = np.sqrt(np.add.reduceat(values.var(0), unfitted._starts)).repeat(unfitted._widths)
        fitted = replace(unfitted, mean=values.mean(0), scale=np.where(scale > 0, scale, 1.0))
        return replace(fitted, bins=fitted._bins(values)), values

    def _bins(self, values: np.ndarray) -> np.ndarray:
        """Bins (m, 3) between quantiles of each number, in encoded units; columns of categories and constant columns have none."""
        assert self.mean is not None and self.scale is not None
        numbers = [start for start, each in zip(self._starts, self.types, strict=True) if each.categories is None]
        count = max(MIN_BINS, min(MAX_BINS, ALL_BINS // len(self.columns)))
        return bins_between_quantiles((values[:, numbers] - self.mean[numbers]) / self.scale[numbers], numbers, count)

    def _check_fit(self) -> None:
        """Check that settings fit the columns; called before rows are read."""

    def check(self, X: RawRows) -> pd.DataFrame | np.ndarray:
        """Return a DataFrame unchanged and other rows as an array; raise if they are not a table."""
        return X if isinstance(X, pd.DataFrame) else two_axes(X)

    @property
    def is_fitted(self) -> bool:
        """Whether the object is fitted."""
        return bool(self.columns)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the raw columns."""
        return self.columns

    @property
    def names(self) -> tuple[str, ...]:
        """One name per feature."""
        return self.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one encoded row."""
        return (sum(self._widths),)

    @property
    def owners(self) -> tuple[int, ...]:
        """The feature that each raw column belongs to."""
        return tuple(range(len(self.columns)))

    @cached_property
    def categorical(self) -> tuple[str, ...]:
        """Names of the categorical raw columns."""
        return tuple(name for name, each in zip(self.columns, self.types, strict=True) if each.categories is not None)

    @property
    def text(self) -> tuple[str, ...]:
        """Names of the raw columns whose categories are text. In files, all values of these columns are read as text."""
        types = zip(self.columns, self.types, strict=True)
        return tuple(name for name, each in types if each.categories is not None and all(isinstance(c, str) for c in each.categories))

    @cached_property
    def _widths(self) -> list[int]:
        return [each.width for each in self.types]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self._widths)[:-1].tolist()]

    @cached_property
    def _dtype(self) -> np.dtype[Any] | None:
        """The type of all cells if they share one: such rows are decoded at once, not column by column."""
        first = self.types[0].dtype
        return first if len({each.dtype for each in self.types}) == 1 and isinstance(first, np.dtype) and not self.categorical else None

    @cached_property
    def _feature_of_each(self) -> Tensor | None:
        """The feature (D,) of each encoded column; None if each encoded column is a feature."""
        owner = np.repeat(self.owners, self._widths)
        return None if np.array_equal(owner, np.arange(len(self.columns))) else torch.from_numpy(owner)

    def expand(self, mask: Tensor) -> Tensor:
        """Expand feature masks (..., d) to encoded masks (..., *shape)."""
        owner = self._feature_of_each
        return mask if owner is None else mask[..., owner.to(mask.device)]

    def gather(self, values: Tensor) -> Tensor:
        """Sum values (b, *shape) over the encoded inputs of each feature, to (b, d)."""
        owner = self._feature_of_each
        if owner is None:
            return values
        return torch.zeros(len(values), self.count, dtype=values.dtype, device=values.device).index_add(1, owner.to(values.device), values)

    def expand_scores(self, scores: Tensor) -> Tensor:
        """Give each raw column the score of its feature."""
        return scores[:, list(self.owners)]

    def as_network_input(self, x: Tensor) -> Tensor:
        """Encoded rows, back in raw units, as a tensor with gradients. Raises for categorical columns."""
        if self.categorical:
            raise ValueError(
                f"Columns {list(self.categorical)[:5]} are categorical, but a torch network needs numbers. Pass a function of DataFrames "
                "that encodes them and calls the network, or encode them before and make each column one feature with Groups(...)."
            )
        return x * torch.as_tensor(self.scale, dtype=x.dtype, device=x.device) + torch.as_tensor(self.mean, dtype=x.dtype, device=x.device)

    def encode(self, X: RawRows, device: torch.device | str = "cpu") -> Encoded:
        """Convert raw rows to encoded rows (b, D)."""
        rows = X if isinstance(X, pd.DataFrame) else as_array(X)
        self._check_columns(rows)
        return Encoded(self._standardised(self._numbers(rows)).to(device))

    def _check_columns(self, rows: pd.DataFrame | np.ndarray) -> None:
        """Check that the columns are those of the fit."""
        count = len(self.columns)
        if len(rows.shape) == 2 and rows.shape[1] != count:
            raise ValueError(
                f"X has {rows.shape[1]} features, but Explainer is expecting {count} features as input. Pass the columns of the fit."
            )
        if self.frame and isinstance(rows, pd.DataFrame):
            got = [str(c) for c in rows.columns]
            if got != list(self.columns):
                unknown = [c for c in got if c not in self.columns] or got
                raise ValueError(
                    f"The feature names should match those that were passed during fit: got {unknown[:5]}, "
                    f"expected {list(self.columns)[:5]}…, in that order. Rename or reorder the columns."
                )

    def _standardised(self, values: np.ndarray) -> Tensor:
        assert self.mean is not None and self.scale is not None  # fit sets both
        return torch.from_numpy(((values - self.mean) / self.scale).astype(np.float32))

    def from_array(self, values: np.ndarray | Tensor) -> pd.DataFrame | np.ndarray:
        """Convert an array to rows. If `fit` was given a DataFrame, they have its column labels and categories."""
        rows = as_array(values)
        rows = rows.reshape(len(rows), -1)
        if not self.frame or rows.shape[1] != len(self.labels):
            return rows
        types = {label: each.dtype if each.categories is not None else float for label, each in zip(self.labels, self.types, strict=True)}
        frame = pd.DataFrame(rows, columns=list(self.labels))
        return frame.astype(types) if rows.dtype == object else frame

    def cell_values(self, X: RawRows) -> list[pd.Series[Any] | None]:
        """The values of each feature; None if it has several columns."""
        table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
        columns = Counter(self.owners)
        place = {owner: j for j, owner in enumerate(self.owners)}
        return [table.iloc[:, place[feature]] if columns[feature] == 1 else None for feature in range(self.count)]

    def feature_truth(self, given: object, rows: int) -> Tensor:
        """The ground truth (n, d) of features. If it is given per raw column, a feature is true if one of its columns is true."""
        known = truth_values(given)
        if known.shape == (rows, len(self.columns)) and len(self.columns) != self.count:
            known = torch.zeros(rows, self.count).index_add(1, torch.tensor(self.owners), known.float()) > 0
        return truth_of(known, rows, self.count)

    def _numbers(self, X: pd.DataFrame | np.ndarray) -> np.ndarray:
        """Raw rows as doubles (n, D), categories as 0 and 1; float32 would lose digits of large numbers before the mean is subtracted."""
        if not self.categorical:
            return finite_numbers(X)
        if not isinstance(X, pd.DataFrame):
            raise ValueError(
                f"X is a {type(X).__name__}, but columns {list(self.categorical)[:5]} were categorical in fit. "
                "Pass a DataFrame with the same columns."
            )
        if len(X) == 0:
            finite_numbers(np.zeros(X.shape))  # raises
        plain = [j for j, each in enumerate(self.types) if each.categories is None]
        values = np.zeros((len(X), *self.shape))
        if plain:
            values[:, [self._starts[j] for j in plain]] = finite_numbers(X.iloc[:, plain])
        for j, each in enumerate(self.types):
            if each.categories is not None:
                values[np.arange(len(X)), self._starts[j] + known_categories(X.iloc[:, j], each.categories)] = 1
        return values

    def decode(self, x: Tensor) -> pd.DataFrame | np.ndarray:
        """Convert encoded rows to raw rows."""
        assert self.mean is not None and self.scale is not None
        values = x.detach().cpu().numpy().astype(np.float64) * self.scale + self.mean
        if self._dtype is not None:
            cells = as_type(values, self._dtype)
            return pd.DataFrame(cells, columns=list(self.labels)) if self.frame else cells
        blocks = np.split(values, self._starts[1:], axis=1)
        frame = pd.DataFrame({j: each.decode(block) for j, (each, block) in enumerate(zip(self.types, blocks, strict=True))})
        return frame.set_axis(list(self.labels), axis=1)

    def decoder(self, *known_rows: RawRows) -> Callable[[Tensor], RawRows]:
        """A function like `decode` that gives cells of known rows their exact raw values."""
        return KnownCells(self, known_rows) if known_rows else self.decode

    def compose(self, rows: RawRows, mask: Tensor, donors: RawRows) -> RawRows:
        """Rows with the cells of donor rows where a mask (n, d) is False."""
        kept = mask[:, list(self.owners)].numpy()
        if not isinstance(rows, pd.DataFrame):
            return choose_cells(rows, kept, donors)
        if all(isinstance(dtype, np.dtype) and dtype == rows.dtypes.iloc[0] for dtype in (*rows.dtypes, *donors.dtypes)):
            return pd.DataFrame(np.where(kept, rows.to_numpy(), donors.to_numpy()), columns=rows.columns)
        cells = {j: choose_column(rows.iloc[:, j], kept[:, j], donors.iloc[:, j], each.dtype) for j, each in enumerate(self.types)}
        return pd.DataFrame(cells, copy=False).set_axis(rows.columns, axis=1)

    def pack(self, rows: RawRows) -> dict[str, Tensor] | None:
        """The cells of an array, or of each column of a DataFrame; categories as their indices."""
        if not isinstance(rows, pd.DataFrame):
            return {"cells": torch.from_numpy(storable(as_array(rows)))}
        return {str(j): torch.from_numpy(storable(each.pack(rows.iloc[:, j]))) for j, each in enumerate(self.types)}

    def unpack(self, tensors: Mapping[str, Tensor]) -> pd.DataFrame | np.ndarray:
        """Undo `pack`."""
        if "cells" in tensors:
            return tensors["cells"].numpy()
        types = zip(self.labels, self.types, strict=True)
        return pd.DataFrame({label: each.unpack(tensors[str(j)].numpy()) for j, (label, each) in enumerate(types)})

    def state(self) -> dict[str, Any]:
        """Everything learned by `fit`, as JSON values."""
        assert self.mean is not None and self.scale is not None
        types = [each.state() for each in self.types]
        state = {"labels": list(self.labels), "frame": self.frame, "types": types, "mean": self.mean.tolist(), "scale": self.scale.tolist()}
        return state if self.bins is None else {**state, "bins": self.bins.tolist()}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Columns:
        """Rebuild the object from its `state`."""
        return cls(
            columns=tuple(map(str, state["labels"])),
            frame=bool(state["frame"]),
            labels=tuple(state["labels"]),
            types=tuple(ColumnType.restore(each) for each in state["types"]),
            mean=np.asarray(state["mean"]),
            scale=np.asarray(state["scale"]),
            bins=np.asarray(state["bins"]).reshape(-1, 3) if "bins" in state else None,
        )
