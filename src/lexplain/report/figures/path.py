"""The regularisation path: the cost of keeping fewer features, and the chosen point."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lexplain.report.formatting import format_number

from .canvas import BLUE, GREEN, MUTED, ORANGE, RULE, TEXT, axes_below, axes_or_new, heading, rows_of_table

COST = ("cost", "cost_low", "cost_high")
EACC = ("eacc", "eacc_low", "eacc_high", "eacc_of_all")


def path(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the cost over the number of features kept, with the chosen point, and in a panel below the accuracy of EVAL-X, if any.

    Args:
        table: `Explainer.path_`, with one row per price and columns `price`, `kept`, `cost`, `cost_low`, `cost_high`, `chosen`. With
            EVAL-X it also has `eacc`, `eacc_low`, `eacc_high`, `eacc_of_all`.
        ax: Axes to draw on, in their upper half if there are two panels. None: axes of a new figure.
    """
    has_eacc = "eacc" in table.columns
    table = rows_of_table(table, ["price", "kept", *COST, "chosen", *(EACC if has_eacc else ())])
    points = table.iloc[::-1].sort_values("kept", kind="stable").reset_index(drop=True)
    own = ax is None
    ax = axes_or_new(ax, 6.4, 6.2 if has_eacc else 3.8)
    mark = _line(ax, points, "cost", BLUE)
    ax.set_ylabel("cost in nats", size=TEXT)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    heading(ax, "Change of predictions with fewer features", mark, columns=1)
    lowest = ax
    if has_eacc:
        lowest = axes_below(ax, own=own)
        _line(lowest, points, "eacc", GREEN)
        every = float(points["eacc_of_all"].iloc[0])
        full = lowest.axhline(every, color=MUTED, linewidth=1.4, linestyle=(0, (4, 2.5)), label=f"from all features: {every:.3f}")
        lowest.set_ylabel("eACC", size=TEXT)
        heading(lowest, "Accuracy of EVAL-X from the kept features", [full], columns=1)
        ax.tick_params(labelbottom=False)
    lowest.set_xlabel("features kept per row, on average; bands are confidence intervals", size=TEXT)
    return ax


def _line(ax: Axes, points: pd.DataFrame, name: str, colour: str) -> list[Artist]:
    """Draw a column with its band, and return the mark of the chosen point, if any."""
    kept, low, middle, high = (points[column].to_numpy(dtype=float) for column in ("kept", f"{name}_low", name, f"{name}_high"))
    ax.fill_between(kept, low, high, color=colour, alpha=0.16, linewidth=0)
    ax.plot(kept, middle, color=colour, linewidth=1.8)
    ax.grid(color=RULE, linewidth=0.6)
    marks: list[Artist] = []
    for i in np.flatnonzero(points["chosen"].to_numpy(dtype=bool)):
        ax.axvline(kept[i], color=ORANGE, linewidth=1, linestyle=":", zorder=1.5)
        text = f"chosen: {kept[i]:.1f} features at {format_number(float(points['price'][i]))} nats each"
        mark = Line2D([kept[i]], [middle[i]], color=ORANGE, marker="o", markersize=8, markeredgecolor="white", linestyle="", label=text)
        marks.append(ax.add_line(mark))
        mark.set_zorder(4)
    return marks
