"""The distance of an encoding estimate from another verdict."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lexplain.measures import Estimate
from lexplain.report.formatting import format_nats
from lexplain.report.verdict import TOO_WEAK, zone_of, zones

from .canvas import INK, MUTED, TEXT, axes_or_new, heading

PALE = {"honest": "#cdeee0", "encodes": "#fbdcc8", "cannot tell": "#e4e8ec", TOO_WEAK: "#f4f5f7"}
INKS = {"honest": "#00523b", "encodes": "#8a3600", "cannot tell": "#3e4c59", TOO_WEAK: "#52606d"}
LETTER = 0.6  # approximate width of a letter, as a share of its height
LINE = 0.3  # height of a line of names, as a share of the zones' height


def certainty(estimate: Estimate, *, margin: float, ax: Axes | None = None) -> Axes:
    """Draw the estimate with its interval on a line of nats, with the zone of each verdict.

    The zones follow from the interval's width: with more rows, "cannot tell" shrinks to the margin.

    Args:
        estimate: Encoding, in nats.
        margin: Encoding in nats that is tolerated.
        ax: Axes to draw on. None: axes of a new figure.
    """
    if not zone_of(estimate, margin):
        raise ValueError(f"Cannot draw an encoding of {estimate}, because it is not finite.")
    ax = axes_or_new(ax, 4.7, 2.7)  # narrow enough for a phone
    low, high = _view(estimate, margin)
    ax.set_xlim(low, high)
    shown = [(word, max(low, begin), min(high, end)) for word, begin, end in zones(estimate, margin)]
    shown = [zone for zone in shown if zone[1] < zone[2]]
    for word, begin, end in shown:
        ax.fill_between([begin, end], 0, 1, color=PALE[word], edgecolor="white", linewidth=1.5, zorder=0.5)
    ax.set_ylim(0, 1.06 + LINE * _names(ax, shown))
    line = Line2D([margin, margin], [0, 1], color=INK, linewidth=1.6, linestyle=(0, (4, 2.5)), label=f"margin: {margin:g} nats")
    ax.add_line(line)
    ax.plot([estimate.low, estimate.high], [0.5, 0.5], color=INK, linewidth=4, solid_capstyle="butt")
    ax.plot([estimate.mean], [0.5], "o", color=INK, markersize=10, markeredgecolor="white", markeredgewidth=1.5, zorder=4)
    interval = f"{format_nats(estimate.low)} to {format_nats(estimate.high)}"
    label = f"estimate: {format_nats(estimate.mean)} nats, {estimate.level:.0%} interval {interval}"
    mark = Line2D([], [], color=INK, marker="o", markersize=8, linewidth=3, label=label)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("nats that the choice of features reveals about the target", size=TEXT)
    heading(ax, "Distance of the encoding from another verdict", [mark, line], columns=1)
    return ax


def _view(estimate: Estimate, margin: float) -> tuple[float, float]:
    """The range to draw: the interval, 0 and the ends of the zones; that of weak evaluators only if the interval is near."""
    _, weak, *ends = [begin for _, begin, _ in zones(estimate, margin)]
    near = estimate.low <= -margin
    spots = [estimate.low, estimate.high, 0.0, margin, *ends, *([weak] if near else [])]
    wide = (max(spots) - min(spots)) or 1.0
    low = min(spots) - 0.12 * wide
    return low if near else max(low, weak), max(spots) + 0.18 * wide


def _names(ax: Axes, shown: list[tuple[str, float, float]]) -> int:
    """Write the zones' names above them, on as many lines as necessary, and return the number of lines."""
    low, high = ax.get_xlim()
    points = (high - low) / (0.92 * ax.get_window_extent().width * 72 / ax.figure.dpi)  # nats per point
    taken: list[float] = []  # where each line's text ends
    for word, begin, end in shown:
        half, centre = 0.5 * LETTER * TEXT * len(word) * points, (begin + end) / 2
        middle = min(max(centre, low + half), high - half)
        level = next((n for n, until in enumerate(taken) if until < middle - half), len(taken))
        taken[level:] = [middle + half + 6 * points, *taken[level + 1 :]]
        foot = 1.04 + LINE * level
        if level or 2 * half > end - begin:  # a line connects a name that is wider than its zone
            ax.plot([centre, middle], [1, foot], color=MUTED, linewidth=0.8, zorder=0.7)
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        ax.text(middle, foot, word, ha="center", va="bottom", size=TEXT, weight="bold", color=INKS[word], bbox=behind)
    return len(taken)
