"""The distribution of results over many random repetitions."""

from __future__ import annotations

from textwrap import wrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from .canvas import INK, MARKERS, PALETTE, RULE, TEXT, axes_or_new, heading, literal, rows_of_table

LINE = 24  # characters per line of a name


def strip(
    table: pd.DataFrame, *, value: str, by: str, colour: str, line: float, title: str, called: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw one point per row of the table, on one line per group, with a number for comparison.

    Args:
        table: One row per repetition.
        value: Column of the horizontal axis, which is linear up to ten times the number and logarithmic beyond.
        by: Column with the group.
        colour: Column that determines the colour and the marker.
        line: Number for comparison.
        title: Title of the figure.
        called: Name of the number. None: the number itself.
        ax: Axes to draw on. None: axes of a new figure.
    """
    table = rows_of_table(table, (value, by, colour))
    groups, words = list(dict.fromkeys(table[by])), list(dict.fromkeys(table[colour]))
    ax = axes_or_new(ax, 6.6, 1.6 + 0.42 * len(groups))
    look = {word: (PALETTE[n % len(PALETTE)], MARKERS[n % len(MARKERS)]) for n, word in enumerate(words)}
    for place, group in enumerate(groups):
        points = table[table[by] == group]
        height = (
            place + np.linspace(-0.25, 0.25, len(points)) if len(points) > 1 else np.array([float(place)])
        )  # spread within the line, in order
        for word, (shade, marker) in look.items():
            mine = (points[colour] == word).to_numpy()
            ax.plot(points[value].to_numpy()[mine], height[mine], marker, color=shade, markersize=4, alpha=0.7, linestyle="")
    ax.axvline(line, color=INK, linewidth=1.2, linestyle="--")
    bent = bool(table[value].max() > 10 * line)
    if bent:
        ax.set_xscale("symlog", linthresh=10 * line)
        ax.set_xlim(left=min(0.0, float(table[value].min())))  # by default, matplotlib would double the room left of 0
        ax.xaxis.set_major_formatter(lambda tick, _: f"{tick:g}")  # 10, not 10^1
    names = ["\n".join(wrap(literal(group, 3 * LINE), LINE)) for group in groups]
    ax.set_yticks(range(len(groups)), names, size=TEXT + 0.5)
    ax.set_ylim(len(groups) - 0.4, -0.6)
    ax.grid(axis="x", color=RULE, linewidth=0.6)
    ax.set_xlabel(literal(value, 60) + (f" (logarithmic above {10 * line:g})" if bent else ""), size=TEXT)
    marks = [Line2D([], [], marker=marker, color=shade, linestyle="", label=literal(word)) for word, (shade, marker) in look.items()]
    heading(ax, title, [*marks, Line2D([], [], color=INK, linestyle="--", label=called or f"{line:g}")], columns=4)
    return ax
