"""The same images as several explainers see them."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from matplotlib.figure import Figure

from lexplain.core import Explanation
from lexplain.report.figures.canvas import INK, TEXT, literal

from .image_axes import HID, show
from .picture import explained_patches, height_of, kept_alone, kept_on, rows_to_draw, shown_images

WIDTH = 1.5  # inches of a picture
LINE = 20  # characters of a line of a name


def masks_side_by_side(explanations: Mapping[str, Explanation], *, images: int = 5, title: str = "") -> Figure:
    """Draw images in a row, and below them one row an explanation: what it keeps of each.

    Args:
        explanations: What the figure calls them, and explanations of the same images, by patches of any size.
        images: How many, from the first on.
        title: What the figure shows.
    """
    first = next(iter(explanations.values()))
    rows = rows_to_draw(range(min(images, len(first))), len(first))
    pictures, features = shown_images(first, rows), explained_patches(first)
    high = height_of(features, WIDTH)
    size = (WIDTH * len(rows) + 1.5, (len(explanations) + 1) * (high + 0.12) + (0.8 if title else 0.5))
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    axes = figure.subplots(len(explanations) + 1, len(rows), squeeze=False)
    for column, row in enumerate(rows):
        show(axes[0, column], pictures[column], features.shape)
        for place, explanation in enumerate(explanations.values(), start=1):
            kept = kept_on(explained_patches(explanation), explanation.mask[row])
            show(axes[place, column], kept_alone(pictures[column], kept), features.shape)
    for place, name in enumerate(("the image", *explanations)):
        label = "\n".join(wrap(literal(name, 3 * LINE), LINE))
        axes[place, 0].set_ylabel(label, rotation=0, ha="right", va="center", size=TEXT, color=INK)
    if title:
        figure.suptitle(title, x=0.01, ha="left", size=11, weight="bold", color=INK)
    figure.legend(handles=[HID], loc="outside lower center", frameon=False, fontsize=TEXT)
    return figure
