"""Accuracy against the number of kept features."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from .canvas import BLUE, MUTED, ORANGE, RULE, TEXT, axes_or_new, heading, rows_of_table

COLUMNS = ("kept", "eacc", "low", "high")


def kept_tradeoff(table: pd.DataFrame, *, own: Sequence[float] | None = None, every: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of EVAL-X over the number of features with the highest scores, and mark the explanation itself.

    Args:
        table: One row per number of features, with columns `kept`, `eacc`, `low`, `high`, all but the first in [0, 1].
        own: (kept, eacc, low, high) of the explanation itself.
        every: Accuracy from all features.
        ax: Axes to draw on. None: axes of a new figure.
    """
    points = rows_of_table(table, COLUMNS).sort_values("kept", kind="stable")
    kept, eacc, low, high = (points[name].to_numpy(dtype=float) for name in COLUMNS)
    ax = axes_or_new(ax, 4.7, 4.0)  # narrow enough for a phone
    ax.fill_between(kept, low, high, color=BLUE, alpha=0.16, linewidth=0)
    marker = "o" if len(kept) <= 30 else ""  # more markers would overlap
    curve = Line2D(kept, eacc, color=BLUE, linewidth=1.8, marker=marker, markersize=4, label="from the features with the highest scores")
    handles: list[Artist] = [ax.add_line(curve)]
    if every is not None:
        handles.append(ax.axhline(every, color=MUTED, linewidth=1.4, linestyle=(0, (4, 2.5)), label=f"from all features: {every:.1%}"))
    if own is not None:
        many, best, least, most = own
        ax.plot([many, many], [least, most], color=ORANGE, linewidth=2, zorder=3)
        label = f"this explanation: {many:.1f} features, {best:.1%}"
        mark = Line2D([many], [best], color=ORANGE, marker="D", markersize=9, markeredgecolor="white", linestyle="", label=label, zorder=4)
        handles.append(ax.add_line(mark))
    ax.autoscale_view()
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.grid(color=RULE, linewidth=0.6)
    ax.set_xlabel("features kept per row, with confidence intervals", size=TEXT)
    ax.set_ylabel("accuracy of EVAL-X (eACC)", size=TEXT)
    heading(ax, "Accuracy of EVAL-X from the kept features", handles, columns=1)
    return ax
