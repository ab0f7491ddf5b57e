"""How often each named feature is kept."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from lexplain.core import Explanation
from lexplain.report.padding import kept_rates
from lexplain.report.wording import count

from .canvas import BLUE, INK, RULE, TEXT, axes_or_new, heading, literal


def rate_bars(explanation: Explanation, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the share of rows that keep each feature, of those that have it, the most often kept first.

    Args:
        explanation: What to count.
        most: How many features at most.
        ax: Where to draw; None makes a figure.
    """
    rates, names = kept_rates(explanation).cpu().numpy(), explanation.place_names
    known = int(np.isfinite(rates).sum())
    order = np.argsort(-rates, kind="stable")[: min(most, known)]  # what no row has is sorted last
    longest = max(len(names[j]) for j in order)
    ax = axes_or_new(ax, 4.7 if longest <= 14 else 6.2, 1.1 + 0.23 * len(order))  # short names leave it narrow enough for a phone
    places = np.arange(len(order))
    ax.barh(places, rates[order], height=0.72, color=BLUE)
    for place, rate in zip(places.tolist(), rates[order].tolist(), strict=True):
        ax.text(rate + 0.01, place, f"{rate:.0%}", va="center", size=TEXT - 1, color=INK)
    ax.set_yticks(places, [literal(names[j], 34) for j in order], size=TEXT)
    ax.set(xlim=(0, 1.08), ylim=(len(order) - 0.4, -0.6))
    ax.set_xticks(np.linspace(0, 1, 5))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=RULE, linewidth=0.6)
    what = "rows that keep it" if explanation.valid is None else "rows that keep it, of those that have it"
    left_out = known - len(order)
    ax.set_xlabel(what + (f" ({count(left_out, 'feature')} kept less often not shown)" if left_out else ""), size=TEXT)
    if explanation.names_differ:
        ax.set_ylabel("place in the row", size=TEXT)
    heading(ax, f"How often each feature is kept, of {count(len(explanation), 'row')}")
    return ax
