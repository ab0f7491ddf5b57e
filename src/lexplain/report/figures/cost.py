"""The time that an explanation takes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from lexplain.report.formatting import format_duration

from .canvas import BLUE, INK, TEXT, axes_or_new, heading, literal, name_lines, rows_of_table


def cost(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the milliseconds per explanation, on a logarithmic scale, fastest first.

    Args:
        table: One row per method, with columns `method`, `ms`.
        ax: Axes to draw on. None: axes of a new figure.
    """
    table = rows_of_table(table, ("method", "ms")).sort_values("ms", kind="stable")
    times = table["ms"].to_numpy(dtype=float)
    if not (np.isfinite(times) & (times > 0)).all():
        raise ValueError(f"ms must contain finite numbers above 0 for a logarithmic scale, got {times.tolist()}. Drop the others.")
    ax = axes_or_new(ax, 6.0, 1.2 + 0.3 * len(times))
    ax.set_xscale("log")
    start = 10.0 ** (math.ceil(math.log10(times.min())) - 1)
    start = start / 10 if times.min() < 1.5 * start else start
    ax.barh(range(len(times)), times - start, left=start, height=0.66, color=BLUE)
    for place, time in enumerate(times.tolist()):
        ax.annotate(format_duration(time), (time, place), xytext=(5, 0), textcoords="offset points", va="center", size=TEXT, color=INK)
    name_lines(ax, [literal(name) for name in table["method"]], size=TEXT + 0.5)
    ax.set_xlim(start, times.max() * (times.max() / start) ** 0.15)  # room for the last label
    ax.xaxis.set_major_formatter(FuncFormatter(lambda time, _: format_duration(time)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("time per explanation (each line is ten times the one before)", size=TEXT)
    heading(ax, "Time per explanation")
    return ax
