"""Rows of an explanation as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .page import TEMPLATES
from .rows import Item, Row
from .wording import count, number, shorten

PALE, SKY, PEACH = (238, 242, 246), (143, 196, 230), (246, 178, 128)  # red, green, blue; dark text can be read on all of them


def rows_html(rows: Sequence[Row]) -> str:
    """Rows side by side, a bar a feature, the kept ones ticked."""
    return TEMPLATES.get_template("rows.html").render(rows=[drawn(row) for row in rows])


def drawn(row: Row) -> dict[str, object]:
    """A row as its template wants it; a bar's length is a share of the row's largest score."""
    sizes = [abs(item.score) for item in row.items if math.isfinite(item.score)]
    largest = max(sizes, default=0.0) or 1.0
    more = f"{count(row.left_out, 'more feature')}, {row.left_out_kept or 'none'} of them kept." if row.left_out else ""
    items = [_bar(item, largest) for item in row.items]
    return {"title": row.title, "label": row.label, "outcome": row.outcome, "items": items, "more": more, "more_kept": row.left_out_kept}


def _bar(item: Item, largest: float) -> dict[str, object]:
    share = 0.0 if math.isnan(item.score) else min(1.0, abs(item.score) / largest)
    return {
        "full": item.label,
        "name": shorten(item.name, 40),
        "value": shorten(item.value, 24),
        "score": number(item.score),
        "kept": item.kept,
        "minus": item.score < 0,
        "share": round(100 * share, 1),
        "tint": ", ".join(f"{pale + (full - pale) * share:.0f}" for pale, full in zip(PALE, PEACH if item.score < 0 else SKY, strict=True)),
    }
