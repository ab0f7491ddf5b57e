"""Rows of an explanation as HTML, by the names of their features."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lexplain.core import Explanation

from .page import TEMPLATES
from .rows import Item, Row, read_row
from .wording import count, number, shorten

TABLE_FEATURES = 12
PALE, SKY, PEACH = (238, 242, 246), (143, 196, 230), (246, 178, 128)  # red, green, blue; dark text can be read on all of them


def about_bars(explanation: Explanation) -> str:  # noqa: ARG001  the same for all
    """How to read the bars."""
    return "Bars show scores, the highest first. Kept features are blue, bold and ticked."


def bars_html(explanation: Explanation, rows: Sequence[int], *, most: int) -> str:
    """Rows side by side, a bar a feature, the kept ones ticked."""
    return TEMPLATES.get_template("rows.html").render(rows=[_drawn(read_row(explanation, row, most=most)) for row in rows])


def features_table(explanation: Explanation, rows: Sequence[int], *, summary: str, left_out: str) -> str:
    """An HTML fragment of a few rows: their kept features with value and score; the predictor is not run for it."""
    ask = explanation.predict is None
    shown = [read_row(explanation, row, most=TABLE_FEATURES, kept_only=True, ask=ask) for row in rows]
    return TEMPLATES.get_template("table.html").render(
        summary=summary, rows=[_drawn(row) for row in shown], left_out=left_out, outcomes=any(row.outcome for row in shown)
    )


def _drawn(row: Row) -> dict[str, object]:
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
