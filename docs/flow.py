"""Draws docs/flow.svg, the picture of the whole library: `python docs/flow.py`."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from lexplain.report import save
from lexplain.report.figures.canvas import BLUE, GREEN, INK, MUTED, axes_or_new

STEPS = (  # name, and purpose in two lines
    ("raw input", "tables, images,\nany rows"),
    ("features", "what a mask\nkeeps or hides"),
    ("selector", "scores the\nfeatures"),
    ("mask", "1 = visible:\nthe explanation"),
    ("imputer", "replaces the\nhidden values"),
    ("predictor", "predicts from\nthe result"),
    ("objective", "cost of\nthe mask"),
)
WIDTH, HEIGHT, STEP = 1.4, 1.0, 1.76
BELOW = -1.95  # height of the second line of boxes


def flow() -> Axes:
    """Draw how raw input becomes an explanation, how the selector is trained, and how the mask is evaluated."""
    ax = axes_or_new(None, 9.2, 3.6)
    ax.set_axis_off()
    ax.set(xlim=(-0.75, 6 * STEP + 0.75), ylim=(BELOW - 0.6, 1.3), aspect="equal")
    for n, (name, does) in enumerate(STEPS):
        _box(ax, (n * STEP, 0), WIDTH, (name, does), BLUE)
        if n:
            _arrow(ax, ((n - 1) * STEP + WIDTH / 2, 0), (n * STEP - WIDTH / 2, 0), INK)
    _training(ax)
    _evaluation(ax)
    return ax


def _training(ax: Axes) -> None:
    """Draw the arrow back: the objective trains the selector."""
    top, high = HEIGHT / 2, 0.95
    ax.plot([6 * STEP, 6 * STEP, 2 * STEP], [top, high, high], color=MUTED, linewidth=1.4, linestyle="--")
    _arrow(ax, (2 * STEP, high), (2 * STEP, top), MUTED)
    ax.text(4 * STEP, high + 0.17, "estimator: the gradient that trains the selector", ha="center", va="center", size=9.5, color=MUTED)


def _evaluation(ax: Axes) -> None:
    """Draw the evaluator and the verdict below the mask."""
    left, right = 3 * STEP, 5.25 * STEP
    wide = 2.75
    _box(ax, (left, BELOW), wide, ("evaluator", "EVAL-X: trained on random\nmasks, never on these"), GREEN)
    _box(ax, (right, BELOW), wide, ("verdict", "honest, or the mask\nencodes the prediction"), GREEN)
    _arrow(ax, (left, -HEIGHT / 2), (left, BELOW + HEIGHT / 2), INK)
    _arrow(ax, (left + wide / 2, BELOW), (right - wide / 2, BELOW), INK)
    ax.text(left + 0.12, BELOW / 2, "only the kept features are visible", va="center", size=9.5, color=MUTED)


def _box(ax: Axes, centre: tuple[float, float], width: float, words: tuple[str, str], colour: str) -> None:
    x, y = centre
    corner, style = (x - width / 2, y - HEIGHT / 2), "round,pad=0,rounding_size=0.12"
    ax.add_patch(FancyBboxPatch(corner, width, HEIGHT, boxstyle=style, facecolor="white", edgecolor=colour, linewidth=1.8))
    ax.text(x, y + 0.26, words[0], ha="center", va="center", size=11, color=INK, weight="bold")
    ax.text(x, y - 0.15, words[1], ha="center", va="center", size=8.5, color=MUTED, linespacing=1.2)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 1, "shrinkB": 1, "mutation_scale": 12}
    ax.annotate("", end, xytext=start, arrowprops=look)


if __name__ == "__main__":
    save(flow(), Path(__file__).with_suffix(".svg"))
