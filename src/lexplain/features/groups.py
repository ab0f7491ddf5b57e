"""Columns that are on or off together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import check
from .columns import Columns


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

    @property
    def owners(self) -> tuple[int, ...]:
        """The group, or the feature of its own, that each raw column belongs to."""
        members = self._members()
        owner = {j: feature for feature, columns in enumerate(members.values()) for j in columns}
        alone = iter(range(len(members), len(members) + len(self.columns)))
        return tuple(owner[j] if j in owner else next(alone) for j in range(len(self.columns)))

    def _members(self) -> dict[str, list[int]]:
        at = {name: j for j, name in enumerate(self.columns)}
        return {name: [at[c] if isinstance(c, str) else int(c) for c in members] for name, members in (self.groups or {}).items()}
