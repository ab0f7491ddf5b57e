"""An explanation as a page, or as a table for a notebook."""

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
    """Write a self-contained HTML page: kept features, how often each is kept, and the first rows one by one."""
    title = f"Explanations by {explanation.method}" if explanation.method else "Explanations"
    if not has_features(explanation):
        return page(title, summary(explanation), [], version=version, date=date)
    shown = range(min(PAGE_ROWS, len(explanation)))
    left_out = len(explanation) - len(shown)
    note = f"Not shown: {pluralise(left_out, 'more row')}. to_frame() and to_json() contain all of them." if left_out else ""
    rows = row_by_row(explanation, shown, title="Row by row", before="", after=note, most=PAGE_FEATURES)
    sections = [rows, *pictures(explanation)] if row_pictures_of(explanation).first else [*pictures(explanation), rows]
    return page(title, summary(explanation), sections, version=version, date=date)


def row_by_row(explanation: Explanation, rows: Sequence[int], *, title: str, before: str, after: str, most: int) -> Section:
    """A section of rows one by one: bars of their features, or pictures if they are images."""
    shown = row_pictures_of(explanation)
    text = f"{before} {shown.about(explanation)}\n\n{after}".strip()
    return Section(title, text, html=shown.html(explanation, rows, most=most))


def pictures(explanation: Explanation) -> list[Section]:
    """Sections with the kept features of each row, and with how often each feature is kept."""
    noun = pictures_of(explanation).noun
    return [
        Section(
            f"Which {'patches' if noun == 'patch' else noun + 's'} are kept in each row",
            f"A {noun} in blue is kept: it stays visible to the predictor. Every other {noun} is hidden. A darker blue is a higher score. "
            "Rows with similar patterns are next to each other.",
            [selection_map(explanation)],
        ),
        Section(
            f"How often each {noun} is kept",
            f"A {noun} that is kept in every row matters for all predictions. The others matter only for the rows that keep them.",
            [feature_rates(explanation)],
        ),
    ]


def explanation_table(explanation: Explanation) -> str:
    """Write an HTML fragment of the first rows: their kept features with value and score, most important first.

    The predictor is not run for it, because a notebook shows it whenever a cell ends in an explanation.
    """
    shown = range(min(TABLE_ROWS, len(explanation)))
    more = len(explanation) - len(shown)
    left_out = pluralise(more, "more row") if more else ""
    return row_pictures_of(explanation).table(explanation, shown, summary=summary(explanation), left_out=left_out)


def summary(explanation: Explanation) -> str:
    """The number of rows, features and kept features, as a sentence. Padding does not count as a feature."""
    rows, width = explanation.mask.shape
    padded = explanation.valid is not None
    most = int(explanation.feature_counts.max()) if padded and rows else width
    text = f"{pluralise(rows, 'row')}, {'up to ' if padded else ''}{pluralise(most, 'feature')}."
    if not has_features(explanation):
        return text
    kept, count = float(explanation.mask.float().sum(1).mean()), float(explanation.feature_counts.double().mean())
    many = f"{kept:.1f} of {count:.1f}" if padded else f"{kept:.1f}"
    text = f"{text} {explanation.method or 'The method'} keeps {many} features per row on average ({kept / count:.0%})."
    if explanation.holds is not None and explanation.verified is not None:
        text = (
            f"{text} {int(explanation.verified.sum()):,} of {rows:,} rows are verified: the model's answer holds when the other features "
        )
        text += f"take the values of similar rows ({float(explanation.holds.nanmean()):.0%} of draws on average)."
    longer = 0 if explanation.unexplained is None else int((explanation.unexplained > 0).sum())
    if not longer:
        return text
    return f"{text} {pluralise(longer, 'row')} exceed the longest row of the fit: the rest of them is not explained and stays visible."
