"""What depends on the kind of features: how files give them back. A kind of your own joins with a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import check
from ..core.contracts import Features, Restore
from .columns import Columns
from .groups import restore_table
from .patches import Patches

RESTORE: dict[str, Restore] = {Columns.kind: restore_table, Patches.kind: Patches.restore}


def restore(kind: str, state: Mapping[str, Any]) -> Features:
    """The features of a kind whose `state` was written to a file."""
    return check.for_kind(RESTORE, kind, "way to restore features", "lexplain.features.by_kind.RESTORE")(state)
