"""Columns that are visible or hidden together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from .columns import Columns


@dataclass(frozen=True, kw_only=True)
class Groups(Columns):
    """Groups of columns are the features: the columns of a group are visible or hidden together.

    Args:
        groups: Dict from the name of a group to its columns, by name or by position. Every other column is one feature.
    """

    groups: Mapping[str, Sequence[str | int]] = field(default_factory=dict, kw_only=False)

    def _check_fit(self) -> None:
        """Check that groups do not overlap and that their columns exist."""
        seen: dict[int, str] = {}
        for name, members in self.groups.items():
            for column in members:
                known = column in self.columns if isinstance(column, str) else 0 <= column < len(self.columns)
                if not known:
                    raise ValueError(
                        f"Group {name!r} contains column {column!r}, which does not exist. Columns: {list(self.columns)[:20]}."
                    )
                j = self.columns.index(column) if isinstance(column, str) else int(column)
                if j in seen:
                    raise ValueError(
                        f"Column {self.columns[j]!r} is in the groups {seen[j]!r} and {name!r}. A column can be in one group only."
                    )
                seen[j] = name
            if not members:
                raise ValueError(f"Group {name!r} has no columns. Add one, or leave the group out.")
        for name in self.groups:
            if name in self.columns and self.columns.index(name) not in seen:
                raise ValueError(f"Group {name!r} has the same name as a column outside it. Rename the group.")

    @property
    def names(self) -> tuple[str, ...]:
        """The groups' names, then the columns in no group."""
        grouped = {j for members in self._members().values() for j in members}
        return (*self._members(), *(name for j, name in enumerate(self.columns) if j not in grouped))

    @property
    def owners(self) -> tuple[int, ...]:
        """The index of the feature that each raw column belongs to."""
        members = self._members()
        owner = {j: feature for feature, columns in enumerate(members.values()) for j in columns}
        alone = iter(range(len(members), len(members) + len(self.columns)))
        return tuple(owner[j] if j in owner else next(alone) for j in range(len(self.columns)))

    def _members(self) -> dict[str, list[int]]:
        position = {name: j for j, name in enumerate(self.columns)}
        return {name: [position[c] if isinstance(c, str) else int(c) for c in members] for name, members in self.groups.items()}

    def state(self) -> dict[str, Any]:
        """Everything learned by `fit`, and the groups, as JSON values."""
        groups = {name: [c if isinstance(c, str) else int(c) for c in members] for name, members in self.groups.items()}
        return {**super().state(), "groups": groups}


def restore_table(state: Mapping[str, Any]) -> Columns:
    """Rebuild columns, or groups of them, from their `state`."""
    columns = Columns.restore(state)
    return columns if "groups" not in state else Groups(state["groups"], **{f.name: getattr(columns, f.name) for f in fields(columns)})
