"""One image of an explanation with its mask, however it is painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from torch import Tensor

from lexplain.core import Explanation
from lexplain.report.figures.canvas import MUTED, TEXT, axes_or_new, heading
from lexplain.report.rows import read_row

from .image_axes import TRUE, outline, show
from .picture import displayed, explained_patches, height_of, images_of, kept_on, legend_of, on_pixels, rows_to_draw, span_of

Paint = Callable[[np.ndarray, np.ndarray], np.ndarray]  # an image and what is kept of it to a picture, all (rows, columns, 3)


def one_image(
    explanation: Explanation, row: int, paint: Paint, *, marks: Sequence[Artist], truth: np.ndarray | Tensor | None, ax: Axes | None
) -> Axes:
    """Draw an image and what is kept of it, with what its truth outlines and what its legend says."""
    features = explained_patches(explanation)
    (row,) = rows_to_draw([row], len(explanation))
    span = span_of(explanation.data)
    picture = paint(displayed(images_of(explanation, [row]), span)[0], kept_on(features, explanation.mask[row]))
    ax = axes_or_new(ax, 3.6, 0.9 + height_of(features, 3.4))
    show(ax, picture, features.shape)
    if truth is not None:
        outline(ax, on_pixels(features, features.truth(truth, len(explanation))[row]) > 0)
    ax.set_xlabel(legend_of(features, span), size=TEXT - 1, color=MUTED, wrap=True)
    heading(ax, read_row(explanation, row, most=0).title, [*marks, *([] if truth is None else [TRUE])])
    return ax
