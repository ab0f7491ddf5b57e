"""How often each feature is kept."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from lexplain.core import Explanation
from lexplain.report.wording import count

from .canvas import BLUE, INK, RULE, TEXT, axes_or_new, heading, literal
from .patch_rates import patch_rates
from .picture import of_patches


def feature_rates(explanation: Explanation, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the share of rows that keep each feature, the most often kept first; of images, a map of the patches.

    Args:
        explanation: What to count.
        most: How many features at most.
        ax: Where to draw; None makes a figure.
    """
    if explanation.mask.numel() == 0:
        raise ValueError(f"a mask of shape {tuple(explanation.mask.shape)} has no rates; give at least one row and feature")
    if of_patches(explanation):
        return patch_rates(explanation, ax=ax)
    rates = explanation.mask.float().mean(0).cpu().numpy()
    order = np.argsort(-rates, kind="stable")[:most]
    longest = max(len(explanation.feature_names[j]) for j in order)
    ax = axes_or_new(ax, 4.7 if longest <= 14 else 6.2, 1.1 + 0.23 * len(order))  # short names leave it narrow enough for a phone
    places = np.arange(len(order))
    ax.barh(places, rates[order], height=0.72, color=BLUE)
    for place, rate in zip(places.tolist(), rates[order].tolist(), strict=True):
        ax.text(rate + 0.01, place, f"{rate:.0%}", va="center", size=TEXT - 1, color=INK)
    ax.set_yticks(places, [literal(explanation.feature_names[j], 34) for j in order], size=TEXT)
    ax.set(xlim=(0, 1.08), ylim=(len(order) - 0.4, -0.6))
    ax.set_xticks(np.linspace(0, 1, 5))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=RULE, linewidth=0.6)
    left_out = len(rates) - len(order)
    ax.set_xlabel("rows that keep it" + (f" ({count(left_out, 'feature')} kept less often not shown)" if left_out else ""), size=TEXT)
    heading(ax, f"How often each feature is kept, of {count(len(explanation), 'row')}")
    return ax
