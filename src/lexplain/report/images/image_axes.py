"""Axes with a picture: square pixels, no ticks, and outlines that follow the pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lexplain.core import Explanation
from lexplain.report.figures.canvas import BLUE, INK, MUTED, ORANGE, RULE, TEXT

from .picture import FADED, HIDDEN, TINT, explained_patches

KEPT = Patch(facecolor=tuple(np.array((0.0, 0.447, 0.698)) * TINT + (FADED + 1) / 2 * (1 - TINT)), edgecolor=BLUE, label="kept")
HID = Patch(facecolor=tuple(HIDDEN[0]), edgecolor=tuple(HIDDEN[1]), hatch="////", label="hidden")
TRUE = Patch(facecolor="none", edgecolor=ORANGE, linewidth=1.8, label="true feature")


def show(ax: Axes, picture: np.ndarray, shape: Sequence[int]) -> None:
    """Draw a picture of an image (.., rows, columns), enlarged or not, so that one unit of the axes is one pixel of the image."""
    rows, columns = shape[-2:]
    ax.imshow(picture, extent=(-0.5, columns - 0.5, rows - 0.5, -0.5), interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(visible=True, color=RULE)


def outline(ax: Axes, region: np.ndarray, *, at: tuple[int, int] = (0, 0), colour: str = ORANGE, width: float = 1.8) -> None:
    """Draw a line around a region (rows, columns) of pixels. Its first pixel is at row and column `at` of the axes."""
    top, left = at[0] - 0.5, at[1] - 0.5
    wide = np.pad(region, 1).astype(int)
    level = [((left + c, top + r), (left + c + 1, top + r)) for r, c in np.argwhere(np.diff(wide, axis=0)[:, 1:-1]).tolist()]
    upright = [((left + c, top + r), (left + c, top + r + 1)) for r, c in np.argwhere(np.diff(wide, axis=1)[1:-1]).tolist()]
    for shade, thick in (("white", width + 1.2), (colour, width)):  # a white line below makes it visible on dark pictures
        lines = LineCollection([*level, *upright], colors=shade, linewidths=thick, capstyle="projecting", clip_on=False)
        ax.add_collection(lines, autolim=False)


def score_word(explanation: Explanation) -> str:
    """The label of scores. The numbers decide whether kept features are those above one half, not the method's name."""
    if explained_patches(explanation, needs_images=False).each_channel:
        return "score, mean of the channels"
    halves = not explanation.additive and bool(((explanation.scores > 0.5) == explanation.mask.bool()).all())
    return "score, above ½ is kept" if halves else "score"


def colour_bar(ax: Axes, scale: Normalize, colours: Colormap, label: str, *, into: Axes | None = None) -> None:
    """Draw a colour bar: next to some axes, or horizontally in other ones."""
    ink, where = ax.title.get_color(), "vertical" if into is None else "horizontal"
    place = ax.inset_axes((1.03, 0, 0.05, 1)) if into is None else into  # as high as the picture, which keeps its shape
    bar = ax.figure.colorbar(ScalarMappable(scale, colours), cax=place, orientation=where)
    bar.set_label(label.replace(", ", ",\n"), size=TEXT, color=ink)
    bar.ax.tick_params(labelsize=TEXT - 1, colors=ink)
    bar.ax.locator_params(nbins=6 if into is None else 3)
    bar.outline.set(edgecolor=RULE)
    assert bar.solids is not None  # only contours have none
    bar.solids.set_edgecolor("face")  # no white seams between the shades


def legend(on: Axes | Figure, marks: Sequence[Artist], note: str) -> None:
    """Draw a legend of the marks, with a note about the colours on its own line."""
    extra = [Line2D([], [], linestyle="", label=note)] if note else []
    where: Literal["outside lower left", "upper left"] = "outside lower left" if isinstance(on, Figure) else "upper left"
    drawn = on.legend(handles=[*marks, *extra], loc=where, frameon=False, fontsize=TEXT, labelcolor=INK, borderpad=0, borderaxespad=0.4)
    if extra:
        drawn.get_texts()[-1].set(color=MUTED, size=TEXT - 1)
