"""An explanation as a page of its own, or as a table for a notebook."""

from __future__ import annotations

from collections.abc import Sequence

from lexplain.core import Explanation

from .figures.feature_rates import feature_rates
from .figures.picture import has_pictures, of_patches
from .figures.selection_map import selection_map
from .image_html import image_rows_html, image_table
from .image_html import note as image_note
from .page import TEMPLATES, Section, page
from .row_html import drawn, rows_html
from .rows import read_row
from .wording import count

PAGE_ROWS, PAGE_FEATURES = 20, 8
TABLE_ROWS, TABLE_FEATURES = 10, 12
ROW_BY_ROW = "Bars are scores, the highest first; kept features are blue, bold and ticked."
IMAGE_BY_IMAGE = (
    "Blue lies on what is kept. Alone, what is kept is as it was, and stripes stand where the image was hidden, so that black is black. "
    "Of the scores, a darker blue is higher."
)


def explanation_page(explanation: Explanation, *, version: str = "", date: str = "") -> str:
    """A self-contained HTML page: what is kept, how often, and the first rows one by one."""
    title = f"Explanations by {explanation.method}" if explanation.method else "Explanations"
    if explanation.mask.numel() == 0:
        return page(title, summary(explanation), [], version=version, date=date)
    shown = range(min(PAGE_ROWS, len(explanation)))
    left_out = len(explanation) - len(shown)
    note = f"Left out here: {count(left_out, 'more row')}. to_frame() and to_json() hold all of them." if left_out else ""
    rows = row_by_row(explanation, shown, title="Row by row", before="", after=note, most=PAGE_FEATURES)
    sections = [rows, *pictures(explanation)] if has_pictures(explanation) else [*pictures(explanation), rows]
    return page(title, summary(explanation), sections, version=version, date=date)


def row_by_row(explanation: Explanation, rows: Sequence[int], *, title: str, before: str, after: str, most: int) -> Section:
    """Some rows one by one: bars of their features, or pictures where they are images."""
    if has_pictures(explanation):
        about, html = f"{IMAGE_BY_IMAGE} {image_note(explanation)}".strip(), image_rows_html(explanation, rows)
    else:
        about, html = ROW_BY_ROW, rows_html([read_row(explanation, row, most=most) for row in rows])
    return Section(title, f"{before} {about}\n\n{after}".strip(), html=html)


def pictures(explanation: Explanation) -> list[Section]:
    """What an explanation keeps, row by row and on the whole, as figures."""
    one = "patch" if of_patches(explanation) else "feature"
    return [
        Section(
            "What is kept",
            f"A filled {'patch' if of_patches(explanation) else 'cell'} is a feature that was shown to the predictor; the others were "
            "hidden. Darker means a higher score. Rows with like patterns lie side by side.",
            [selection_map(explanation)],
        ),
        Section(
            "How often",
            f"A {one} that every row keeps says something of the task; one that some rows keep, something of them.",
            [feature_rates(explanation)],
        ),
    ]


def explanation_table(explanation: Explanation) -> str:
    """An HTML fragment of the first rows: their kept features with value and score, the most important first.

    The predictor is not run for it: a notebook shows it whenever a cell ends in an explanation.
    """
    shown = range(min(TABLE_ROWS, len(explanation)))
    if has_pictures(explanation):
        more = len(explanation) - len(shown)
        return image_table(explanation, shown, summary=summary(explanation), left_out=count(more, "more row") if more else "")
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
