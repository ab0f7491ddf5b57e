"""The columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check
from .kind import Kind, as_type


@dataclass(frozen=True)
class Columns:
    """Each column of a table is a feature; encoding standardises it, so that 0 is its mean.

    A column of categories (text, or pandas' category) takes one encoded column for each, which are on or off together.
    """

    columns: tuple[str, ...] = ()  # names of the raw columns, in order
    frame: bool = False  # whether the model eats a DataFrame
    labels: tuple[str | int | float, ...] = ()  # what the DataFrame calls its columns
    kinds: tuple[Kind, ...] = ()  # one a raw column
    mean: np.ndarray | None = None  # (D,) of the encoded columns
    scale: np.ndarray | None = None  # (D,)

    def fit(self, X: pd.DataFrame | np.ndarray) -> Columns:
        """Learn names, categories, means and scales from training rows."""
        check.table(X)
        if isinstance(X, pd.DataFrame):
            labels = tuple(X.columns.tolist())
            kinds = tuple(Kind.of(X.iloc[:, j]) for j in range(X.shape[1]))
        else:
            array = check.as_array(X)
            labels = tuple(f"x{j + 1}" for j in range(array.shape[1]))
            kinds = (Kind(array.dtype if array.dtype.kind in "biuf" else np.dtype(float)),) * array.shape[1]
        blank = replace(self, columns=tuple(map(str, labels)), frame=isinstance(X, pd.DataFrame), labels=labels, kinds=kinds)
        values = blank._numbers(X)
        # A column's categories share a scale, so that together they vary by 1, as a number does; their own would make rare ones huge.
        scale = np.sqrt(np.add.reduceat(values.var(0), blank._starts)).repeat(blank._widths)
        return replace(blank, mean=values.mean(0), scale=np.where(scale > 0, scale, 1.0))

    @property
    def names(self) -> tuple[str, ...]:
        """One name a feature."""
        return self.columns

    @property
    def count(self) -> int:
        """How many features can be on or off."""
        return len(self.names)

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
        """Names of the raw columns that hold categories."""
        return tuple(name for name, kind in zip(self.columns, self.kinds, strict=True) if kind.categories is not None)

    @property
    def text(self) -> tuple[str, ...]:
        """Names of the raw columns whose categories are text: where a file has numbers in them, these are text too."""
        kinds = zip(self.columns, self.kinds, strict=True)
        return tuple(name for name, kind in kinds if kind.categories is not None and all(isinstance(c, str) for c in kind.categories))

    @cached_property
    def _widths(self) -> list[int]:
        return [kind.width for kind in self.kinds]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self._widths)[:-1].tolist()]

    @cached_property
    def _dtype(self) -> np.dtype[Any] | None:
        """The type of all cells, if it is one: such rows are decoded at once, not column by column."""
        dtypes = {kind.dtype for kind in self.kinds}
        first = self.kinds[0].dtype
        return first if len(dtypes) == 1 and isinstance(first, np.dtype) and not self.categorical else None

    @cached_property
    def _feature_of_each(self) -> Tensor | None:
        """The feature (D,) of each encoded column; None where features and encoded columns are the same."""
        owner = np.repeat(self.owners, self._widths)
        return None if np.array_equal(owner, np.arange(len(self.columns))) else torch.from_numpy(owner)

    def expand(self, mask: Tensor) -> Tensor:
        """Turn feature masks (..., d) into raw masks (..., *shape)."""
        owner = self._feature_of_each
        return mask if owner is None else mask[..., owner.to(mask.device)]

    def gather(self, values: Tensor) -> Tensor:
        """Sum raw values (b, *shape) within each feature (b, d)."""
        owner = self._feature_of_each
        if owner is None:
            return values
        return torch.zeros(len(values), self.count, dtype=values.dtype, device=values.device).index_add(1, owner.to(values.device), values)

    def raw(self, x: Tensor) -> Tensor:
        """Encoded rows in raw units, as a tensor that carries gradients."""
        check.eaten_by_network(self.categorical)
        return x * torch.as_tensor(self.scale, dtype=x.dtype, device=x.device) + torch.as_tensor(self.mean, dtype=x.dtype, device=x.device)

    def encode(self, X: pd.DataFrame | np.ndarray) -> Tensor:
        """Turn raw rows into the tensor (b, D) that masks act on."""
        check.same_columns(X, len(self.columns), self.columns if self.frame else None)
        assert self.mean is not None and self.scale is not None  # fit sets both
        return torch.from_numpy(((self._numbers(X) - self.mean) / self.scale).astype(np.float32))

    def _numbers(self, X: pd.DataFrame | np.ndarray) -> np.ndarray:
        """Raw rows as numbers (n, D), categories as 0 and 1."""
        if not self.categorical:
            check.finite_numbers(X)
            values = X if isinstance(X, pd.DataFrame) else check.as_array(X)
            return np.asarray(values, dtype=np.float64)  # float32 would lose the last digits of large numbers before the mean is taken off
        check.some_rows_of_a_frame(X, self.categorical)
        assert isinstance(X, pd.DataFrame)
        plain = [j for j, kind in enumerate(self.kinds) if kind.categories is None]
        values = np.zeros((len(X), *self.shape))
        if plain:
            check.finite_numbers(X.iloc[:, plain])
            values[:, [self._starts[j] for j in plain]] = np.asarray(X.iloc[:, plain], dtype=np.float64)
        for j, kind in enumerate(self.kinds):
            if kind.categories is not None:
                values[np.arange(len(X)), self._starts[j] + check.known_categories(X.iloc[:, j], kind.categories)] = 1
        return values

    def decode(self, x: Tensor) -> pd.DataFrame | np.ndarray:
        """Turn encoded rows back into what a model eats."""
        assert self.mean is not None and self.scale is not None
        values = x.detach().cpu().numpy().astype(np.float64) * self.scale + self.mean
        if self._dtype is not None:
            cells = as_type(values, self._dtype)
            return pd.DataFrame(cells, columns=list(self.labels)) if self.frame else cells
        blocks = np.split(values, self._starts[1:], axis=1)
        frame = pd.DataFrame({j: kind.decode(block) for j, (kind, block) in enumerate(zip(self.kinds, blocks, strict=True))})
        return frame.set_axis(list(self.labels), axis=1)

    def state(self) -> dict[str, Any]:
        """What `fit` learned, as plain JSON values."""
        assert self.mean is not None and self.scale is not None
        kinds = [kind.state() for kind in self.kinds]
        return {"labels": list(self.labels), "frame": self.frame, "kinds": kinds, "mean": self.mean.tolist(), "scale": self.scale.tolist()}

    def restore(self, state: Mapping[str, Any]) -> Columns:
        """The object that `state` was read from."""
        return replace(
            self,
            columns=tuple(map(str, state["labels"])),
            frame=bool(state["frame"]),
            labels=tuple(state["labels"]),
            kinds=tuple(Kind.restore(kind) for kind in state["kinds"]),
            mean=np.asarray(state["mean"]),
            scale=np.asarray(state["scale"]),
        )
