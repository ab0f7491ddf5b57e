"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def explains_images(patches: bool, data: Any) -> None:
    """Refuse to draw the images of an explanation that is not of images, or came without them."""
    if not patches:
        raise TypeError("this explanation is not of images, so there is none to draw; explain with features=Patches(...), or use row_bars")
    if data is None:
        raise ValueError("this explanation came without its images; give them with dataclasses.replace(explanation, data=images)")


def rows_to_draw(rows: Sequence[int], many: int) -> list[int]:
    """Return positions of rows to draw; refuse none, and those that are not there."""
    if not rows or not all(-many <= row < many for row in rows):
        raise ValueError(f"rows {list(rows)[:5]} were asked for, but at least one of the {many} rows, counted from 0, is needed")
    return [int(row) % many for row in rows]
