"""The share of true features that a method keeps, against the share of kept features that are false."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from .canvas import GREEN, INK, MARKERS, MUTED, PALETTE, RULE, TEXT, axes_or_new, heading, literal, rows_of_table

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points


def truth_tradeoff(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the true-positive rate against the false-discovery rate, with one labelled marker per method and a star for the ideal.

    Args:
        table: One row per method, with columns `method`, `tpr`, `fdr`; rates are in [0, 1].
        ax: Axes to draw on. None: axes of a new figure.
    """
    table = rows_of_table(table, ("method", "tpr", "fdr")).dropna(subset=["tpr", "fdr"])
    ax = axes_or_new(ax, 6.2, 5.0)
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    ax.plot([0], [1], marker="*", markersize=17, color=GREEN, linestyle="", clip_on=False, zorder=2)
    names = [literal(name) for name in table["method"]]
    points = list(zip(table["fdr"].astype(float), table["tpr"].astype(float), strict=True))
    for n, (x, y) in enumerate(points):
        style: dict[str, Any] = {"marker": MARKERS[n % len(MARKERS)], "color": PALETTE[n % len(PALETTE)]}
        ax.plot([x], [y], linestyle="", markersize=8, markeredgecolor="white", zorder=4, clip_on=False, **style)
    _label(ax, ["ideal", *names], [(0.0, 1.0), *points])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.grid(color=RULE, linewidth=0.6)
    ax.set_xlabel("share of kept features that are false (FDR): lower is better", size=TEXT)
    ax.set_ylabel("share of true features that are kept (TPR): higher is better", size=TEXT)
    heading(ax, "True features kept against false features kept")
    return ax


def _label(ax: Axes, names: list[str], points: list[tuple[float, float]]) -> None:
    """Write each name at the nearest free place around its point, with a line to it if that is further away."""
    space = ax.get_window_extent()
    wide, high = (0.9 * side * 72 / ax.figure.dpi for side in (space.width, space.height))  # the layout takes a tenth for tick labels
    centres = [((x + 0.04) / 1.08 * wide, (y + 0.04) / 1.08 * high) for x, y in points]
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in centres]
    taken[0] = (centres[0][0] - 9, centres[0][1] - 9, centres[0][0] + 9, centres[0][1] + 9)  # the star
    for n, (name, point) in enumerate(zip(names, points, strict=True)):
        dx, dy, boxes = _free_place(centres[n], 0.6 * TEXT * len(name), taken, taken[n], wide)
        taken.extend(boxes)
        line = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 4} if math.hypot(dx, dy) > 10 else None
        look: dict[str, Any] = {"ha": "left" if dx >= 0 else "right", "va": "center", "size": TEXT, "color": INK}
        ax.annotate(name, point, xytext=(dx, dy), textcoords="offset points", arrowprops=line, **look)


def _free_place(centre: tuple[float, float], width: float, taken: list[Box], own: Box, limit: float) -> tuple[float, float, list[Box]]:
    """(dx, dy) from a point to the nearest place where a text of that width covers nothing, and the boxes of text and line."""
    others = [box for box in taken if box is not own]  # a line may cross its own marker
    best: tuple[float, float, float, list[Box]] | None = None
    for distance in (9, 13, 18, 28, 40, 54, 70, 90):
        for angle in (0, 180, 25, -25, 155, -155, 50, -50, 130, -130, 75, -75, 105, -105):
            dx, dy = distance * math.cos(math.radians(angle)), distance * math.sin(math.radians(angle))
            left = centre[0] + dx - (width if dx < 0 else 0)
            box = (left, centre[1] + dy - 6, left + width, centre[1] + dy + 6)
            steps = [(centre[0] + dx * k / distance, centre[1] + dy * k / distance) for k in range(7, distance, 4)]  # from rim to text
            line = [(x - 2, y - 2, x + 2, y + 2) for x, y in steps]
            over = _covered([box], taken) + _covered(line, others) + 20 * max(0.0, box[2] - limit, -box[0])
            if over == 0:
                return dx, dy, [box, *line]
            if best is None or over < best[0]:
                best = (over, dx, dy, [box, *line])
    assert best is not None
    return best[1:]


def _covered(mine: list[Box], others: list[Box]) -> float:
    """The area that two lists of boxes share."""
    pairs = ((a, b) for a in mine for b in others)
    return sum(max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1])) for a, b in pairs)
