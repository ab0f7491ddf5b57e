"""An explanation as a page of its own, or as a table for a notebook."""

from __future__ import annotations

import math

from lexplain.core import Explanation

from .figures.feature_rates import feature_rates
from .figures.selection_map import selection_map
from .page import TEMPLATES, Section, page
from .rows import Item, Row, read_row
from .wording import count, number, shorten

PAGE_ROWS, PAGE_FEATURES = 20, 8
TABLE_ROWS, TABLE_FEATURES = 10, 12
PALE, SKY, PEACH = (238, 242, 246), (143, 196, 230), (246, 178, 128)  # red, green, blue; dark text can be read on all of them


def explanation_page(explanation: Explanation, *, version: str = "", date: str = "") -> str:
    """A self-contained HTML page: what is kept, how often, and the first rows one by one."""
    title = f"Explanations by {explanation.method}" if explanation.method else "Explanations"
    if explanation.mask.numel() == 0:
        return page(title, _summary(explanation), [], version=version, date=date)
    rows = [read_row(explanation, row, most=PAGE_FEATURES) for row in range(min(PAGE_ROWS, len(explanation)))]
    left_out = len(explanation) - len(rows)
    note = f"Left out here: {count(left_out, 'more row')}. to_frame() and to_json() hold all of them." if left_out else ""
    sections = [
        Section(
            "What is kept",
            "A filled cell is a feature that was shown to the predictor; the others were hidden. Darker means a higher score. "
            "Rows with like patterns lie side by side.",
            [selection_map(explanation)],
        ),
        Section(
            "How often",
            "A feature that every row keeps says something of the task; one that some rows keep, something of them.",
            [feature_rates(explanation)],
        ),
        Section(
            "Row by row",
            "Bars are scores, the highest first; kept features are blue and bold." + (f"\n\n{note}" if note else ""),
            html=TEMPLATES.get_template("rows.html").render(rows=[_drawn(row) for row in rows]),
        ),
    ]
    return page(title, _summary(explanation), sections, version=version, date=date)


def explanation_table(explanation: Explanation) -> str:
    """An HTML fragment of the first rows: their kept features with value and score, the most important first.

    The predictor is not run for it: a notebook shows it whenever a cell ends in an explanation.
    """
    shown = range(min(TABLE_ROWS, len(explanation)))
    rows = [read_row(explanation, row, most=TABLE_FEATURES, kept_only=True, ask=explanation.predict is None) for row in shown]
    left_out = len(explanation) - len(rows)
    return TEMPLATES.get_template("table.html").render(
        summary=_summary(explanation),
        rows=[_drawn(row) for row in rows],
        left_out=count(left_out, "more row") if left_out else "",
        outcomes=any(row.outcome for row in rows),
    )


def _summary(explanation: Explanation) -> str:
    rows, features = explanation.mask.shape
    said = f"{count(rows, 'row')}, {count(features, 'feature')}."
    if rows == 0 or features == 0:
        return said
    kept = float(explanation.mask.float().sum(1).mean())
    by = explanation.method or "The method"
    return f"{said} {by} keeps {kept:.1f} features of a row on average ({kept / features:.0%})."


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
