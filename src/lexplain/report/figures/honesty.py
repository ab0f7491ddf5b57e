"""Whether a method's own accuracy survives an honest judge."""

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
APART = 0.15  # how far above and below its line a method's two points lie


def honesty(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw each method's own accuracy, EVAL-X's, and an arrow from the one to the other.

    A method encodes the prediction in its mask where EVAL-X's interval lies wholly under its own: the mask told its predictor what
    the kept features do not say.

    Args:
        table: One row a method; columns `method`, `acc`, `acc_low`, `acc_high`, `eacc`, `eacc_low`, `eacc_high`, `verdict`.
        ax: Where to draw; None makes a figure.
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
    heading(ax, "Does the accuracy survive an honest judge?", _legend(encodes))
    return ax


def _method(ax: Axes, place: int, row: Mapping[Hashable, float], colour: str, shortest: float) -> None:
    for name, y, marker, face in (("acc", place - APART, "o", "white"), ("eacc", place + APART, "D", colour)):
        ax.plot([row[f"{name}_low"], row[f"{name}_high"]], [y, y], color=colour, linewidth=2, alpha=0.55, solid_capstyle="butt", zorder=2)
        ax.plot([row[name]], [y], marker, markersize=7, markerfacecolor=face, markeredgecolor=colour, markeredgewidth=1.6, zorder=4)
    gap = row["eacc"] - row["acc"]
    if abs(gap) > shortest:
        look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2, "shrinkA": 5, "shrinkB": 5, "mutation_scale": 11}
        ax.annotate("", (row["eacc"], place + APART), xytext=(row["acc"], place - APART), arrowprops=look, zorder=3)
    said = f"{100 * gap:+.1f} points".replace("-", "\N{MINUS SIGN}") if np.isfinite(gap) else "gap unknown"
    ink = colour if colour == ORANGE else ax.title.get_color()
    for text, lift, size, weight in ((said, 5, TEXT, "bold"), (literal(row["verdict"], 24), -7, TEXT - 1, "normal")):
        beside = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "annotation_clip": False}
        style: dict[str, Any] = {**beside, "va": "center", "size": size, "weight": weight, "color": ink}
        ax.annotate(text, (1.0, place), xytext=(8, lift), **style)


def _legend(encodes: list[bool]) -> list[Artist]:
    marks: list[Artist] = [
        Line2D([], [], marker="o", linestyle="", markerfacecolor="white", markeredgecolor=INK, markersize=7, label="own accuracy (ACC)"),
        Line2D([], [], marker="D", linestyle="", color=INK, markersize=7, label="EVAL-X's accuracy (eACC)"),
    ]
    colours = ((ORANGE, True, "encodes: eACC lies below ACC"), (BLUE, False, "the intervals overlap, or eACC is higher"))
    return marks + [Patch(color=colour, label=label) for colour, kind, label in colours if kind in encodes]
