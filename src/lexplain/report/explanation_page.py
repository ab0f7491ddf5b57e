"""An explanation as a page of its own, or as a table for a notebook."""

from __future__ import annotations

from lexplain.core import Explanation

from .figures.feature_rates import feature_rates
from .figures.selection_map import selection_map
from .page import TEMPLATES, Section, page
from .row_html import drawn, rows_html
from .rows import read_row
from .wording import count

PAGE_ROWS, PAGE_FEATURES = 20, 8
TABLE_ROWS, TABLE_FEATURES = 10, 12
ROW_BY_ROW = "Bars are scores, the highest first; kept features are blue, bold and ticked."


def explanation_page(explanation: Explanation, *, version: str = "", date: str = "") -> str:
    """A self-contained HTML page: what is kept, how often, and the first rows one by one."""
    title = f"Explanations by {explanation.method}" if explanation.method else "Explanations"
    if explanation.mask.numel() == 0:
        return page(title, summary(explanation), [], version=version, date=date)
    rows = [read_row(explanation, row, most=PAGE_FEATURES) for row in range(min(PAGE_ROWS, len(explanation)))]
    left_out = len(explanation) - len(rows)
    note = f"Left out here: {count(left_out, 'more row')}. to_frame() and to_json() hold all of them." if left_out else ""
    text = ROW_BY_ROW + (f"\n\n{note}" if note else "")
    sections = [*pictures(explanation), Section("Row by row", text, html=rows_html(rows))]
    return page(title, summary(explanation), sections, version=version, date=date)


def pictures(explanation: Explanation) -> list[Section]:
    """What an explanation keeps, row by row and on the whole, as figures."""
    return [
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
    ]


def explanation_table(explanation: Explanation) -> str:
    """An HTML fragment of the first rows: their kept features with value and score, the most important first.

    The predictor is not run for it: a notebook shows it whenever a cell ends in an explanation.
    """
    shown = range(min(TABLE_ROWS, len(explanation)))
    rows = [read_row(explanation, row, most=TABLE_FEATURES, kept_only=True, ask=explanation.predict is None) for row in shown]
    left_out = len(explanation) - len(rows)
    return TEMPLATES.get_template("table.html").render(
        summary=summary(explanation),
        rows=[drawn(row) for row in rows],
        left_out=count(left_out, "more row") if left_out else "",
        outcomes=any(row.outcome for row in rows),
    )


def summary(explanation: Explanation) -> str:
    """How many rows and features there are, and how many are kept."""
    rows, features = explanation.mask.shape
    said = f"{count(rows, 'row')}, {count(features, 'feature')}."
    if rows == 0 or features == 0:
        return said
    kept = float(explanation.mask.float().sum(1).mean())
    by = explanation.method or "The method"
    return f"{said} {by} keeps {kept:.1f} features of a row on average ({kept / features:.0%})."
