"""How a result changes along a setting."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from .canvas import MARKERS, PALETTE, RULE, TEXT, axes_or_new, heading, literal, rows_of_table

FEW = 8  # values of x that are marked one by one


def sweep(table: pd.DataFrame, *, x: str, y: str, by: str, low: str | None = None, high: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw lines of one column over another, one a group; groups with "published" in their name are dashed, for comparison.

    Args:
        table: One row a group and a value of `x`.
        x: The column along the horizontal axis.
        y: The column along the vertical axis.
        by: The column that names the group.
        low: The column of the band's lower edge; a band needs both edges.
        high: The column of the band's upper edge.
        ax: Where to draw; None makes a figure.
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
    if len(values) <= FEW:
        ax.set_xticks(values, [f"{value:g}" for value in values])
    ax.grid(color=RULE, linewidth=0.6)
    ax.set_xlabel(literal(x, 60), size=TEXT)
    ax.set_ylabel(literal(y, 60), size=TEXT)
    heading(ax, f"{y} over {x}", handles, columns=3 if max(len(str(h.get_label())) for h in handles) < 20 else 2)
    return ax
