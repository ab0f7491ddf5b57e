"""A result as a function of a setting."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from .canvas import MARKERS, PALETTE, RULE, TEXT, axes_or_new, heading, literal, rows_of_table

MAX_TICKS = 8  # with more values of x, not every value gets a tick


def sweep(table: pd.DataFrame, *, x: str, y: str, by: str, low: str | None = None, high: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw one line per group, of one column over another. Groups with "published" in their name are dashed.

    Args:
        table: One row per group and value of `x`.
        x: Column of the horizontal axis.
        y: Column of the vertical axis.
        by: Column with the group.
        low: Column of the band's lower edge. A band needs both edges.
        high: Column of the band's upper edge.
        ax: Axes to draw on. None: axes of a new figure.
    """
    table = rows_of_table(table, [name for name in (x, y, by, low, high) if name is not None])
    ax = axes_or_new(ax, 6.4, 4.2)
    handles = []
    for n, (name, group) in enumerate(table.groupby(by, sort=False)):
        points, dashed = group.sort_values(x, kind="stable"), "published" in str(name).lower()
        colour = PALETTE[n % len(PALETTE)]
        look: dict[str, Any] = {"linewidth": 1.8, "linestyle": (0, (4, 2.5)) if dashed else "-", "marker": MARKERS[n % len(MARKERS)]}
        look |= {"color": colour, "markersize": 5.5, "markerfacecolor": "white" if dashed else colour, "label": literal(name, 40)}
        handles.append(ax.add_line(Line2D(points[x].to_numpy(), points[y].to_numpy(dtype=float), **look)))
        if low is not None and high is not None:
            ax.fill_between(points[x], points[low].astype(float), points[high].astype(float), color=colour, alpha=0.16, linewidth=0)
    ax.autoscale_view()
    values = sorted(table[x].unique())
    if len(values) <= MAX_TICKS:
        ax.set_xticks(values, [f"{value:g}" for value in values])
    ax.grid(color=RULE, linewidth=0.6)
    ax.set_xlabel(literal(x, 60), size=TEXT)
    ax.set_ylabel(literal(y, 60), size=TEXT)
    heading(ax, f"{y} over {x}", handles, columns=3 if max(len(str(h.get_label())) for h in handles) < 20 else 2)
    return ax
