"""What can be on or off: a feature mask becomes a raw mask, raw input becomes the tensor that masks act on, and back.

`fit` learns the encoding from training rows and returns a new object; what it learned lies in `state`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from . import check


@dataclass(frozen=True)
class Columns:
    """Each column of a table is a feature; encoding standardises it, so that 0 is its mean."""

    columns: tuple[str, ...] = ()  # names of the raw columns, in order
    frame: bool = False  # whether the model eats a DataFrame
    mean: np.ndarray | None = None  # (D,)
    scale: np.ndarray | None = None  # (D,)

    def fit(self, X: pd.DataFrame | np.ndarray) -> Columns:
        """Learn names, means and scales from training rows."""
        check.finite_numbers(X)
        values = np.asarray(X, dtype=np.float64)  # float32 would lose the last digits of large numbers before the mean is taken off
        framed = isinstance(X, pd.DataFrame)
        names = tuple(str(c) for c in X.columns) if isinstance(X, pd.DataFrame) else tuple(f"x{j + 1}" for j in range(values.shape[1]))
        scale = values.std(0)
        return replace(self, columns=names, frame=framed, mean=values.mean(0), scale=np.where(scale > 0, scale, 1.0))

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
        return (len(self.columns),)

    def expand(self, mask: Tensor) -> Tensor:
        """Turn feature masks (..., d) into raw masks (..., *shape)."""
        return mask

    def gather(self, values: Tensor) -> Tensor:
        """Sum raw values (b, *shape) within each feature (b, d)."""
        return values

    def raw(self, x: Tensor) -> Tensor:
        """Encoded rows in raw units, as a tensor that carries gradients."""
        return x * torch.as_tensor(self.scale, dtype=x.dtype, device=x.device) + torch.as_tensor(self.mean, dtype=x.dtype, device=x.device)

    def encode(self, X: pd.DataFrame | np.ndarray) -> Tensor:
        """Turn raw rows into the tensor (b, D) that masks act on."""
        check.same_columns(X, len(self.columns), self.columns if self.frame else None)
        assert self.mean is not None and self.scale is not None  # fit sets both
        check.finite_numbers(X)
        return torch.from_numpy(((np.asarray(X, dtype=np.float64) - self.mean) / self.scale).astype(np.float32))

    def decode(self, x: Tensor) -> pd.DataFrame | np.ndarray:
        """Turn encoded rows back into what a model eats."""
        assert self.mean is not None and self.scale is not None
        values = x.detach().cpu().numpy().astype(np.float64) * self.scale + self.mean
        return pd.DataFrame(values, columns=list(self.columns)) if self.frame else values

    def state(self) -> dict[str, Any]:
        """What `fit` learned, as plain JSON values."""
        assert self.mean is not None and self.scale is not None
        return {"columns": list(self.columns), "frame": self.frame, "mean": self.mean.tolist(), "scale": self.scale.tolist()}

    def restore(self, state: Mapping[str, Any]) -> Columns:
        """The object that `state` was read from."""
        return replace(
            self,
            columns=tuple(state["columns"]),
            frame=bool(state["frame"]),
            mean=np.asarray(state["mean"]),
            scale=np.asarray(state["scale"]),
        )


@dataclass(frozen=True)
class Groups(Columns):
    """Groups of columns are the features: the columns of a group are on or off together.

    Args:
        groups: name -> columns, by name or by position. Columns in no group are features of their own.
    """

    groups: Mapping[str, Sequence[str | int]] | None = None

    def fit(self, X: pd.DataFrame | np.ndarray) -> Groups:
        """Learn the encoding, and refuse groups that overlap or name no column."""
        fitted = super().fit(X)
        assert isinstance(fitted, Groups)
        check.groups_fit(fitted.groups or {}, fitted.columns)
        return fitted

    @property
    def names(self) -> tuple[str, ...]:
        """The groups' names, then the columns in no group."""
        grouped = {j for members in self._members().values() for j in members}
        return (*self._members(), *(name for j, name in enumerate(self.columns) if j not in grouped))

    def expand(self, mask: Tensor) -> Tensor:
        """Give each column the mask of its group."""
        return mask[..., torch.as_tensor(self._feature_of_column(), device=mask.device)]

    def gather(self, values: Tensor) -> Tensor:
        """Sum column values within each group."""
        owner = torch.as_tensor(self._feature_of_column(), device=values.device)
        return torch.zeros(len(values), self.count, dtype=values.dtype, device=values.device).index_add(1, owner, values)

    def _members(self) -> dict[str, list[int]]:
        at = {name: j for j, name in enumerate(self.columns)}
        return {name: [at[c] if isinstance(c, str) else int(c) for c in members] for name, members in (self.groups or {}).items()}

    def _feature_of_column(self) -> list[int]:
        members = self._members()
        owner = {j: feature for feature, columns in enumerate(members.values()) for j in columns}
        alone = iter(range(len(members), len(members) + len(self.columns)))
        return [owner[j] if j in owner else next(alone) for j in range(len(self.columns))]
