"""One image of an explanation with its kept pixels, alone or on the image."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from torch import Tensor

from lexplain.core import Explanation
from lexplain.report.figures.canvas import MUTED, TEXT, axes_or_new, heading
from lexplain.report.rows import read_row

from .image_axes import HID, KEPT, TRUE, outline, show
from .picture import explained_patches, height_of, kept_alone, kept_on, legend_of, on_pixels, overlaid, rows_to_draw, shown_images, span_of

Paint = Callable[[np.ndarray, np.ndarray], np.ndarray]  # image, kept pixels → picture, all (rows, columns, 3)


def image_kept(explanation: Explanation, row: int, *, truth: np.ndarray | Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw kept pixels unchanged and hidden ones as stripes, so that a black pixel is always a kept one.

    Args:
        explanation: Explanation of images, with patches as features.
        row: Position of the image.
        truth: (b, d) of bool, the ground truth, which is outlined. None: unknown.
        ax: Axes to draw on. None: axes of a new figure.
    """
    return _one_image(explanation, row, kept_alone, marks=[HID], truth=truth, ax=ax)


def image_overlay(explanation: Explanation, row: int, *, truth: np.ndarray | Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw an image in faded grey, with kept pixels in blue.

    Args:
        explanation: Explanation of images, with patches as features.
        row: Position of the image.
        truth: (b, d) of bool, the ground truth, which is outlined. None: unknown.
        ax: Axes to draw on. None: axes of a new figure.
    """
    return _one_image(explanation, row, overlaid, marks=[KEPT], truth=truth, ax=ax)


def _one_image(
    explanation: Explanation, row: int, paint: Paint, *, marks: Sequence[Artist], truth: np.ndarray | Tensor | None, ax: Axes | None
) -> Axes:
    """Draw an image and its kept pixels, with the ground truth and a legend."""
    features = explained_patches(explanation)
    (row,) = rows_to_draw([row], len(explanation))
    picture = paint(shown_images(explanation, [row])[0], kept_on(features, explanation.mask[row]))
    ax = axes_or_new(ax, 3.6, 0.9 + height_of(features, 3.4))
    show(ax, picture, features.shape)
    if truth is not None:
        outline(ax, on_pixels(features, features.feature_truth(truth, len(explanation))[row]) > 0)
    ax.set_xlabel(legend_of(features, span_of(explanation.data)), size=TEXT - 1, color=MUTED, wrap=True)
    heading(ax, read_row(explanation, row, most=0).title, [*marks, *([] if truth is None else [TRUE])])
    return ax
