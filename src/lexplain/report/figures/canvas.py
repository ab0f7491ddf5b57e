"""Shared parts of all figures: a white card, colours for colour-blind readers, headings, and conversion to SVG or a file."""

from __future__ import annotations

import io
import math
import threading
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from lexplain.core.contracts import Json
from lexplain.core.files import write_bytes
from lexplain.report.formatting import shorten

INK, MUTED, RULE = "#1f2933", "#616e7c", "#d5dae0"
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PALETTE = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")  # Okabe and Ito, 2008, without yellow
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
KEPT_SHADES: Colormap = LinearSegmentedColormap.from_list("kept", ["#a6cbe6", "#0072B2", "#00304d"], N=40)  # the lightest is not white
TEXT = 9.5  # points, of all texts except titles
HEADING = 0.8  # inches of a title and a line of legend between two panels
SETTINGS: Json = {"svg.hashsalt": "lexplain", "svg.fonttype": "none"}  # text stays text, for search, copies and screen readers
NO_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
RENDERING = threading.Lock()  # matplotlib's settings and Python's warning filters are global


class LaidOutOnce(ConstrainedLayoutEngine):
    """Make room for labels at the first drawing only, because matplotlib's own engine moves things slightly each time."""

    done = False

    def execute(self, fig: Figure) -> None:
        """Lay out the figure, once."""
        if not self.done:
            super().execute(fig)
            self.done = True


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """`ax` or axes of a new figure (inches), on a white card. Pyplot is not used, so no figure is registered globally."""
    if ax is None:
        figure = Figure(figsize=(width, height), layout=LaidOutOnce(), facecolor="white")
        ax = figure.add_subplot()
        _write_in_ink(ax)
    return _on_card(ax)


def axes_below(ax: Axes, *, own: bool) -> Axes:
    """New axes with the same horizontal axis, in the lower half of the place of `ax`, which moves to the upper half.

    Args:
        ax: Axes to move up.
        own: If True, the axes are our own and have our colours, not those of the user's style.
    """
    box, place = ax.get_position(), ax.get_subplotspec()
    inches = ax.get_window_extent().height / ax.figure.dpi
    gap = min(0.6, HEADING / inches)  # share of the height
    if place is not None:
        laid_out = ax.figure.get_layout_engine() is not None  # the engine makes room itself
        halves = place.subgridspec(2, 1, hspace=0.08 if laid_out else 2 * gap / (1 - gap))
        ax.set_subplotspec(halves[0])
        below = ax.figure.add_subplot(halves[1], sharex=ax)
    else:
        half = box.height * (1 - gap) / 2
        ax.set_position((box.x0, box.y1 - half, box.width, half))
        below = ax.figure.add_axes((box.x0, box.y0, box.width, half), sharex=ax)
    if own:
        _write_in_ink(below)
    return _on_card(below)


def _write_in_ink(ax: Axes) -> None:
    ax.tick_params(colors=INK, labelsize=TEXT)
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        text.set_color(INK)


def _on_card(ax: Axes) -> Axes:
    ax.set_facecolor("white")
    ax.set_axisbelow(True)
    for name, spine in ax.spines.items():
        spine.set(color=RULE, visible=name in ("left", "bottom"))
    return ax


def heading(ax: Axes, title: str, handles: Sequence[Artist] = (), *, columns: int = 2) -> None:
    """Write a title, and a legend between it and the plot."""
    lines = math.ceil(len(handles) / columns)
    ink = ax.title.get_color()
    ax.set_title(literal(title, 200), loc="left", size=11, weight="bold", color=ink, pad=8 + 15 * lines)
    if handles:
        gaps: dict[str, Any] = {"borderaxespad": 0.2, "borderpad": 0, "columnspacing": 1.4, "handletextpad": 0.5}
        look: dict[str, Any] = {"frameon": False, "fontsize": TEXT, "labelcolor": ink}
        ax.legend(handles=list(handles), ncols=columns, loc="lower left", bbox_to_anchor=(0.0, 1.0), **gaps, **look)


def name_lines(ax: Axes, names: Sequence[str], *, size: float = TEXT) -> None:
    """Write a name next to each line of bars or points, the first line on top, and draw a grid behind them."""
    ax.set_yticks(range(len(names)), names, size=size)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=RULE, linewidth=0.6)


def literal(text: object, most: int = 28) -> str:
    """A short text that matplotlib does not parse as mathematics."""
    return shorten(text, most).replace("$", r"\$")


def rows_of_table(table: pd.DataFrame, needed: Collection[str]) -> pd.DataFrame:
    """The table with a plain index. Raise if it lacks columns or has no row."""
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise ValueError(f"The table has the columns {[str(c) for c in table.columns]} but not {missing}. Rename columns or add them.")
    if table.empty:
        raise ValueError("The table has no row, so there is nothing to draw.")
    return table.reset_index(drop=True)


def to_svg(drawn: Figure | Axes) -> str:
    """Render the figure as an `<svg>` element, which is also a complete SVG file."""
    text = _render(drawn, "svg").decode()
    return text[text.index("<svg") :]


def save(drawn: Figure | Axes, path: str | Path) -> Path:
    """Write the figure to an .svg, .png or .pdf file. A failure does not damage an existing file."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in NO_METADATA:
        raise ValueError(f"{path} must end in .svg, .png or .pdf, the formats of figures.")
    content = to_svg(drawn).encode() if kind == "svg" else _render(drawn, kind)
    return write_bytes(path, content)


def figure_of(drawn: Figure | Axes) -> Figure:
    """The figure that contains some axes."""
    figure = drawn.figure if isinstance(drawn, Axes) else drawn
    while isinstance(figure, SubFigure):
        figure = figure.figure
    assert isinstance(figure, Figure)
    return figure


def _render(drawn: Figure | Axes, kind: str) -> bytes:
    content = io.BytesIO()
    with RENDERING, matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # browsers have fonts for scripts that matplotlib lacks
        figure_of(drawn).savefig(content, format=kind, metadata=NO_METADATA[kind], bbox_inches="tight", pad_inches=0.1, dpi=150)
    return content.getvalue()
