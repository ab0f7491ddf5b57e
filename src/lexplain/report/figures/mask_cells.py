"""Which named features are kept, row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Patch, Rectangle
from torch import Tensor

from lexplain.core import Explanation
from lexplain.report.padding import valid_features
from lexplain.report.rows import row_label
from lexplain.report.wording import count

from .canvas import KEPT_SHADES, ORANGE, RULE, TEXT, axes_or_new, heading, literal

MOST_COLUMNS = 40  # more names cannot be read
PADDING = "#e4e8ec"  # where a row has no feature


def mask_cells(explanation: Explanation, rows: Sequence[int], *, true: Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw rows by features: kept cells are filled, darker for a higher score, true ones outlined, and padding is grey.

    Args:
        explanation: What to draw.
        rows: Positions.
        true: (b, d) of bool, where it is known: the features that really decide.
        ax: Where to draw; None makes a figure.
    """
    row = list(rows)
    there, mask = valid_features(explanation).cpu().numpy()[row], explanation.mask.bool().cpu().numpy()[row]
    outlined = np.zeros_like(mask) if true is None else true.cpu().numpy()[row] & there
    column = _columns(mask | outlined, there)
    there, mask, outlined = there[:, column], mask[:, column], outlined[:, column]
    scores = explanation.scores.detach().float().cpu().numpy()[row][:, column]
    names = [explanation.place_names[j] for j in column]
    long = max(map(len, names)) > 4

    ax = axes_or_new(ax, min(9.0, max(4.8, 1.8 + 0.24 * len(column))), 1.7 + 0.17 * len(row) + (0.8 if long else 0))
    handles = [Patch(color=KEPT_SHADES(0.5), label="kept")]
    _fill(ax, mask, scores)
    if true is not None:
        ax.add_collection(PatchCollection(_cells(outlined), facecolor="none", edgecolor=ORANGE, linewidth=1.8))
        handles.append(Patch(facecolor="none", edgecolor=ORANGE, linewidth=1.8, label="true feature"))
    if not there.all():
        ax.add_collection(PatchCollection(_cells(~there, 1.0), facecolor=PADDING, edgecolor="none", zorder=0.4))
        handles.append(Patch(color=PADDING, label="the row ends before"))
    _frame(ax, names, [row_label(explanation, int(i)) for i in row], long=long)
    if explanation.names_differ:
        ax.set_xlabel("place in the row", size=TEXT)
    heading(ax, _title(explanation, len(row), len(column)), handles)
    return ax


def _columns(marked: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The features to draw, in their own order: those marked most often, and none that is padding in every row."""
    order = np.argsort(-marked.sum(0), kind="stable")
    return np.sort(order[there[:, order].any(0)][:MOST_COLUMNS])


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


def _title(explanation: Explanation, rows: int, columns: int) -> str:
    of_rows = count(rows, "row") if rows == len(explanation) else f"{rows} of {count(len(explanation), 'row')}"
    features = int(valid_features(explanation).any(0).sum())
    of_features = "" if columns == features else f", {columns} of {features:,} features"
    return f"Features kept in {of_rows}{of_features}"
