"""The scores of an image's pixels."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from torch import Tensor

from lexplain.core import Explanation
from lexplain.report.figures.canvas import INK, axes_or_new, heading
from lexplain.report.rows import read_row

from .image_axes import TRUE, colour_bar, outline, score_word, show
from .paint import coloured, shade
from .picture import explained_patches, height_of, on_pixels, rows_to_draw


def image_scores(
    explanation: Explanation, row: int, *, kept: bool = False, truth: np.ndarray | Tensor | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the score of every pixel, darker for a higher one, with a bar that says which colour is which.

    Args:
        explanation: An explanation of images, by patches; the images themselves are not needed.
        row: The position of the image.
        kept: Outline what is kept.
        truth: (b, d) of bool, where it is known: the features that really decide, to be outlined.
        ax: Where to draw; None makes a figure.
    """
    features = explained_patches(explanation, needs_images=False)
    (row,) = rows_to_draw([row], len(explanation))
    scores = on_pixels(features, explanation.scores[row])
    ax = axes_or_new(ax, 4.4, 0.6 + height_of(features, 3.5))
    show(ax, coloured(scores, *shade(scores)), features.shape)
    marks = []
    if kept:
        outline(ax, on_pixels(features, explanation.mask[row]) > 0, colour=INK, width=1.0)
        marks.append(Line2D([], [], color=INK, linewidth=1.0, label="around what is kept"))
    if truth is not None:
        outline(ax, on_pixels(features, features.truth(truth, len(explanation))[row]) > 0)
    colour_bar(ax, *shade(scores), score_word(explanation))
    heading(ax, read_row(explanation, row, most=0).title, [*marks, *([] if truth is None else [TRUE])])
    return ax
