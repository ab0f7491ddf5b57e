"""An explanation as a page of its own, or as a table for a notebook."""

from __future__ import annotations

from collections.abc import Sequence

from lexplain.core import Explanation

from .formatting import pluralise
from .page import Section, page
from .pictures import feature_rates, pictures_of, row_pictures_of, selection_map
from .rows import has_features

PAGE_ROWS, PAGE_FEATURES = 20, 8
TABLE_ROWS = 10


def explanation_page(explanation: Explanation, *, version: str = "", date: str = "") -> str:
    """A self-contained HTML page: what is kept, how often, and the first rows one by one."""
    title = f"Explanations by {explanation.method}" if explanation.method else "Explanations"
    if not has_features(explanation):
        return page(title, summary(explanation), [], version=version, date=date)
    shown = range(min(PAGE_ROWS, len(explanation)))
    left_out = len(explanation) - len(shown)
    note = f"Left out here: {pluralise(left_out, 'more row')}. to_frame() and to_json() have all of them." if left_out else ""
    rows = row_by_row(explanation, shown, title="Row by row", before="", after=note, most=PAGE_FEATURES)
    sections = [rows, *pictures(explanation)] if row_pictures_of(explanation).first else [*pictures(explanation), rows]
    return page(title, summary(explanation), sections, version=version, date=date)


def row_by_row(explanation: Explanation, rows: Sequence[int], *, title: str, before: str, after: str, most: int) -> Section:
    """Some rows one by one, as their kind is shown: bars of their features, or pictures where they are images."""
    shown = row_pictures_of(explanation)
    text = f"{before} {shown.about(explanation)}\n\n{after}".strip()
    return Section(title, text, html=shown.html(explanation, rows, most=most))


def pictures(explanation: Explanation) -> list[Section]:
    """What an explanation keeps, row by row and on the whole, as figures."""
    noun = pictures_of(explanation).noun
    return [
        Section(
            "What each row keeps",
            f"A {noun} in blue is kept: the predictor sees it. Every other {noun} is hidden. A darker blue is a higher score. "
            "Rows with similar patterns are side by side.",
            [selection_map(explanation)],
        ),
        Section(
            f"How often each {noun} is kept",
            f"A {noun} that every row keeps matters to the task as a whole; a {noun} that only some rows keep matters to these rows.",
            [feature_rates(explanation)],
        ),
    ]


def explanation_table(explanation: Explanation) -> str:
    """An HTML fragment of the first rows: their kept features with value and score, the most important first.

    The predictor is not run for it: a notebook shows it whenever a cell ends in an explanation.
    """
    shown = range(min(TABLE_ROWS, len(explanation)))
    more = len(explanation) - len(shown)
    left_out = pluralise(more, "more row") if more else ""
    return row_pictures_of(explanation).table(explanation, shown, summary=summary(explanation), left_out=left_out)


def summary(explanation: Explanation) -> str:
    """How many rows and features there are, and how many are kept; padding is no feature."""
    rows, width = explanation.mask.shape
    padded = explanation.valid is not None
    most = int(explanation.feature_counts.max()) if padded and rows else width
    said = f"{pluralise(rows, 'row')}, {'up to ' if padded else ''}{pluralise(most, 'feature')}."
    if not has_features(explanation):
        return said
    kept, there = float(explanation.mask.float().sum(1).mean()), float(explanation.feature_counts.double().mean())
    many = f"{kept:.1f} of {there:.1f}" if padded else f"{kept:.1f}"
    said = f"{said} {explanation.method or 'The method'} keeps {many} features of a row on average ({kept / there:.0%})."
    longer = 0 if explanation.unexplained is None else int((explanation.unexplained > 0).sum())
    if not longer:
        return said
    return f"{said} {pluralise(longer, 'row')} exceed the longest row of the fit: what lies beyond it is not explained and stays visible."
