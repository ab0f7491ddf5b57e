"""A method's own accuracy compared with the accuracy of EVAL-X."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .canvas import BLUE, INK, ORANGE, TEXT, axes_or_new, heading, literal, name_lines, rows_of_table

COLUMNS = ("method", "acc", "acc_low", "acc_high", "eacc", "eacc_low", "eacc_high", "verdict")
OFFSET = 0.15  # distance of a method's two points from its line


def honesty(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw each method's own accuracy, the accuracy of EVAL-X, an arrow from the first to the second, and the gap: own minus EVAL-X's.

    A method encodes the prediction in its mask if EVAL-X's interval is entirely below its own: its predictor used the choice of
    features, not only their values.

    Args:
        table: One row per method, with columns `method`, `acc`, `acc_low`, `acc_high`, `eacc`, `eacc_low`, `eacc_high`, `verdict`.
        ax: Axes to draw on. None: axes of a new figure.
    """
    table = rows_of_table(table, COLUMNS)
    ax = axes_or_new(ax, 6.6, 1.6 + 0.48 * len(table))
    ends = table[["acc", "eacc", "acc_low", "eacc_low", "acc_high", "eacc_high"]].to_numpy(dtype=float)
    shortest = 0.05 * (np.nanmax(ends, initial=0.0) - np.nanmin(ends, initial=1.0))  # the points of a shorter arrow would hide it
    encodes = (table["eacc_high"] < table["acc_low"]).tolist()
    for place, bad in enumerate(encodes):
        _method(ax, place, table.iloc[place].to_dict(), ORANGE if bad else BLUE, shortest)
    name_lines(ax, [literal(name) for name in table["method"]], size=TEXT + 0.5)
    ax.margins(x=0.08)
    ax.set_xlabel("accuracy, with confidence intervals", size=TEXT)
    heading(ax, "Own accuracy against EVAL-X's accuracy", _legend(encodes))
    return ax


def _method(ax: Axes, place: int, row: Mapping[Hashable, float], colour: str, shortest: float) -> None:
    for name, y, marker, face in (("acc", place - OFFSET, "o", "white"), ("eacc", place + OFFSET, "D", colour)):
        ax.plot([row[f"{name}_low"], row[f"{name}_high"]], [y, y], color=colour, linewidth=2, alpha=0.55, solid_capstyle="butt", zorder=2)
        ax.plot([row[name]], [y], marker, markersize=7, markerfacecolor=face, markeredgecolor=colour, markeredgewidth=1.6, zorder=4)
    gap = row["acc"] - row["eacc"]
    if abs(gap) > shortest:
        look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2, "shrinkA": 5, "shrinkB": 5, "mutation_scale": 11}
        ax.annotate("", (row["eacc"], place + OFFSET), xytext=(row["acc"], place - OFFSET), arrowprops=look, zorder=3)
    difference = f"{100 * gap:+.1f} points".replace("-", "\N{MINUS SIGN}") if np.isfinite(gap) else "gap unknown"
    ink = colour if colour == ORANGE else ax.title.get_color()
    for text, lift, size, weight in ((difference, 5, TEXT, "bold"), (literal(row["verdict"], 24), -7, TEXT - 1, "normal")):
        place_right = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "annotation_clip": False}
        style: dict[str, Any] = {**place_right, "va": "center", "size": size, "weight": weight, "color": ink}
        ax.annotate(text, (1.0, place), xytext=(8, lift), **style)


def _legend(encodes: list[bool]) -> list[Artist]:
    marks: list[Artist] = [
        Line2D([], [], marker="o", linestyle="", markerfacecolor="white", markeredgecolor=INK, markersize=7, label="own accuracy (ACC)"),
        Line2D([], [], marker="D", linestyle="", color=INK, markersize=7, label="EVAL-X's accuracy (eACC)"),
    ]
    colours = ((ORANGE, True, "encodes: eACC is below ACC"), (BLUE, False, "the intervals overlap, or eACC is higher"))
    return marks + [Patch(color=colour, label=label) for colour, kind, label in colours if kind in encodes]
