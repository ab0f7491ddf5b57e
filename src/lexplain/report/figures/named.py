"""Explanations with named features: the scores of a row, the kept features of rows, and how often each feature is kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import PercentFormatter
from torch import Tensor

from lexplain.core import Explanation
from lexplain.report.formatting import pluralise, some_of
from lexplain.report.rows import kept_rates, read_row, row_label, valid_features

from .canvas import BLUE, INK, KEPT_SHADES, ORANGE, RULE, TEXT, axes_or_new, heading, literal, name_lines

MAX_COLUMNS = 40  # more names are not readable
PADDING = "#e4e8ec"
REST = "#b8c1ca"  # bars of features that are not kept


def mask_cells(explanation: Explanation, rows: Sequence[int], *, true: Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw rows by features. Kept cells are filled, darker for a higher score; true features are outlined; padding is grey."""
    row = list(rows)
    valid, mask = valid_features(explanation).cpu().numpy()[row], explanation.mask.bool().cpu().numpy()[row]
    outlined = np.zeros_like(mask) if true is None else true.cpu().numpy()[row] & valid
    column = _columns(mask | outlined, valid)
    valid, mask, outlined = valid[:, column], mask[:, column], outlined[:, column]
    scores = explanation.scores.detach().float().cpu().numpy()[row][:, column]
    names = [explanation.column_names[j] for j in column]
    long = max(map(len, names)) > 4

    ax = axes_or_new(ax, min(9.0, max(4.8, 1.8 + 0.24 * len(column))), 1.7 + 0.17 * len(row) + (0.8 if long else 0))
    handles = [Patch(color=KEPT_SHADES(0.5), label="kept")]
    _fill(ax, mask, scores)
    if true is not None:
        ax.add_collection(PatchCollection(_cells(outlined), facecolor="none", edgecolor=ORANGE, linewidth=1.8))
        handles.append(Patch(facecolor="none", edgecolor=ORANGE, linewidth=1.8, label="true feature"))
    if not valid.all():
        ax.add_collection(PatchCollection(_cells(~valid, 1.0), facecolor=PADDING, edgecolor="none", zorder=0.4))
        handles.append(Patch(color=PADDING, label="padding: the row is shorter"))
    _frame(ax, names, [row_label(explanation, int(i)) for i in row], long=long)
    if explanation.names_per_row:
        ax.set_xlabel("position in the row", size=TEXT)
    known = int(valid_features(explanation).any(0).sum())
    note = "" if len(column) == known else f", {len(column)} of {known:,} features"
    heading(ax, f"Features kept in {some_of(len(row), len(explanation), 'row')}{note}", handles)
    return ax


def _columns(marked: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """The features to draw, in their original order: those marked most often, without padding of all rows."""
    order = np.argsort(-marked.sum(0), kind="stable")
    return np.sort(order[valid[:, order].any(0)][:MAX_COLUMNS])


def _cells(marked: np.ndarray, size: float = 0.9) -> list[Rectangle]:
    return [Rectangle((j - size / 2, i - size / 2), size, size) for i, j in np.argwhere(marked).tolist()]


def _fill(ax: Axes, mask: np.ndarray, scores: np.ndarray) -> None:
    kept = scores[mask]
    known = kept[np.isfinite(kept)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    shade = Normalize(low, high) if high > low else Normalize(low - 1, high + 1)
    colours = KEPT_SHADES(shade(np.nan_to_num(kept, nan=low, posinf=high, neginf=low)))
    ax.add_collection(PatchCollection(_cells(mask), facecolor=colours, edgecolor="none"))
    if high > low:
        bar = ax.figure.colorbar(ScalarMappable(shade, KEPT_SHADES), ax=ax, fraction=0.05, pad=0.02, aspect=30, shrink=0.9)
        bar.set_label("score of a kept feature", size=TEXT, color=ax.title.get_color())
        bar.ax.tick_params(labelsize=TEXT - 1, colors=ax.title.get_color())
        bar.outline.set_visible(False)
        assert bar.solids is not None  # only contours have none
        bar.solids.set_edgecolor("face")  # no white seams between the shades


def _frame(ax: Axes, names: list[str], labels: list[str], *, long: bool) -> None:
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(labels) - 0.5, -0.5))
    ax.set_xticks(range(len(names)), [literal(name, 24) for name in names], color=ax.title.get_color(), size=TEXT - 0.5)
    if long:
        for text in ax.get_xticklabels():
            text.set(rotation=90, rotation_mode="anchor", ha="right", va="center")
    shown = labels if len(labels) <= 60 else [""] * len(labels)
    ax.set_yticks(range(len(labels)), [literal(label, 14) for label in shown], size=TEXT - 2)
    ax.tick_params(length=0)
    ax.vlines(np.arange(1, len(names)) - 0.5, -0.5, len(labels) - 0.5, color=RULE, linewidth=0.6, zorder=0.5)
    ax.hlines(np.arange(1, len(labels)) - 0.5, -0.5, len(names) - 0.5, color=RULE, linewidth=0.6, zorder=0.5)
    ax.set_ylabel("row")
    ax.spines[:].set_visible(True)


def rate_bars(explanation: Explanation, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the share of rows that keep each feature, among the rows that have it, highest first."""
    rates, names = kept_rates(explanation).cpu().numpy(), explanation.column_names
    known = int(np.isfinite(rates).sum())
    order = np.argsort(-rates, kind="stable")[: min(most, known)]  # features that no row has are sorted last
    longest = max(len(names[j]) for j in order)
    ax = axes_or_new(ax, 4.7 if longest <= 14 else 6.2, 1.1 + 0.23 * len(order))  # with short names, narrow enough for a phone
    ax.barh(range(len(order)), rates[order], height=0.72, color=BLUE)
    for place, rate in enumerate(rates[order].tolist()):
        ax.text(rate + 0.01, place, f"{rate:.0%}", va="center", size=TEXT - 1, color=INK)
    name_lines(ax, [literal(names[j], 34) for j in order])
    ax.set_xlim(0, 1.08)
    ax.set_xticks(np.linspace(0, 1, 5))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    label = "share of rows that keep it" if explanation.valid is None else "share of rows that keep it, of those that have it"
    left_out = known - len(order)
    ax.set_xlabel(label + (f" ({pluralise(left_out, 'feature')} kept less often not shown)" if left_out else ""), size=TEXT)
    if explanation.names_per_row:
        ax.set_ylabel("position in the row", size=TEXT)
    heading(ax, f"How often each feature is kept, of {pluralise(len(explanation), 'row')}")
    return ax


def score_bars(explanation: Explanation, row: int, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """Draw the scores of one row as bars, with kept features highlighted."""
    content = read_row(explanation, row, most=most)
    ax = axes_or_new(ax, 5.4, 1.3 + 0.25 * len(content.items))
    scores = np.array([item.score for item in content.items])
    known = scores[np.isfinite(scores)]
    widths = np.nan_to_num(scores, nan=0.0, posinf=max(known, default=1.0), neginf=min(known, default=-1.0))
    ax.barh(range(len(widths)), widths, height=0.72, color=[BLUE if item.kept else REST for item in content.items])
    name_lines(ax, [literal(item.label, 34) for item in content.items])
    for text, item in zip(ax.get_yticklabels(), content.items, strict=True):
        text.set_fontweight("bold" if item.kept else "normal")
    ax.axvline(0, color=INK, linewidth=0.8)
    more = f" ({content.left_out} more features not shown)" if content.left_out else ""
    ax.set_xlabel(f"score{more}", size=TEXT)
    heading(ax, content.title, [Patch(color=BLUE, label="kept"), Patch(color=REST, label="not kept")])
    return ax
