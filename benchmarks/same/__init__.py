"""The questions that `same_answers.py` asks of two commits: one file per group, which names its cases and computes their arrays.

To add a group: a file with `cases()`, which maps the name of each case to a function that returns its arrays, and a line in `GROUPS`.
A case starts from the same random state, whichever cases were computed before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

Case = Callable[[], dict[str, Any]]
GROUPS = ("fits", "audit", "baselines", "right_reasons", "cards", "audits", "compare", "tables", "files", "texts", "states")


@dataclass(frozen=True)
class Wanted:
    """Which cases are asked for.

    Args:
        groups: Names of groups; () for all.
        only: The name of a group, or a part of the names of cases; None for all.
        short: Leave out the fits of many steps.
    """

    groups: tuple[str, ...] = ()
    only: str | None = None
    short: bool = False

    def has_group(self, group: str) -> bool:
        """Whether any case of a group can be asked for."""
        return (not self.groups or group in self.groups) and (self.only not in GROUPS or self.only == group)

    def has(self, case: str, group: str) -> bool:
        """Whether a case is asked for."""
        from .fits import MANY

        named = self.only is None or self.only == group or self.only in case
        return self.has_group(group) and named and not (self.short and case.endswith(f"/{MANY}"))

    @property
    def words(self) -> list[str]:
        """The same on the command line."""
        groups, only = ["--groups", ",".join(self.groups)] if self.groups else [], ["--only", self.only] if self.only else []
        return [*groups, *only, *["--short"][: self.short]]


def cases(wanted: Wanted) -> dict[str, tuple[str, Case]]:
    """The cases asked for, by name: the group of each, and the function that computes it."""
    found = {}
    for group in filter(wanted.has_group, GROUPS):
        for name, case in import_module(f"{__name__}.{group}").cases().items():
            if wanted.has(name, group):
                found[name] = group, case
    return found
