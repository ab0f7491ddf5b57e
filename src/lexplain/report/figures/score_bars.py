"""One row's scores, by the names of its features."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from lexplain.core import Explanation
from lexplain.report.rows import read_row

from .canvas import BLUE, INK, RULE, TEXT, axes_or_new, heading, literal

REST = "#b8c1ca"


def score_bars(explanation: Explanation, row: int, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """Draw a bar for each feature's score of one row, the kept ones highlighted.

    Args:
        explanation: Where the row lies.
        row: Its position.
        most: How many features at most; kept ones come before others.
        ax: Where to draw; None makes a figure.
    """
    said = read_row(explanation, row, most=most)
    ax = axes_or_new(ax, 5.4, 1.3 + 0.25 * len(said.items))
    scores = np.array([item.score for item in said.items])
    known = scores[np.isfinite(scores)]
    widths = np.nan_to_num(scores, nan=0.0, posinf=max(known, default=1.0), neginf=min(known, default=-1.0))
    places = np.arange(len(widths))
    ax.barh(places, widths, height=0.72, color=[BLUE if item.kept else REST for item in said.items])
    ax.set_yticks(places, [literal(item.label, 34) for item in said.items], size=TEXT)
    for text, item in zip(ax.get_yticklabels(), said.items, strict=True):
        text.set_fontweight("bold" if item.kept else "normal")
    ax.set_ylim(len(widths) - 0.4, -0.6)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=RULE, linewidth=0.6)
    more = f" ({said.left_out} more features not shown)" if said.left_out else ""
    ax.set_xlabel(f"score{more}", size=TEXT)
    heading(ax, said.title, [Patch(color=BLUE, label="kept"), Patch(color=REST, label="not kept")])
    return ax
