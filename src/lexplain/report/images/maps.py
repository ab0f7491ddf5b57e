"""Maps of images: the scores of one image, the masks of several, and how often each patch is kept."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from torch import Tensor

from lexplain.core import Explanation
from lexplain.report.figures.canvas import INK, KEPT_SHADES, TEXT, axes_or_new, heading, literal
from lexplain.report.formatting import pluralise, some_of
from lexplain.report.rows import kept_rates, read_row, row_label

from .image_axes import TRUE, colour_bar, outline, score_word, show
from .picture import SHADES, coloured, explained_patches, height_of, kept_on, on_pixels, rows_to_draw, score_maps, shade

PALE = 0.93  # grey of hidden pixels
GAP = 0.3  # gap above a tile for its name, as a share of its height; half of it between neighbouring tiles


def image_scores(
    explanation: Explanation, row: int, *, kept: bool = False, truth: np.ndarray | Tensor | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the score of each pixel, darker for a higher score, with a colour bar.

    Args:
        explanation: Explanation of images, with patches as features. The images themselves are not needed.
        row: Position of the image.
        kept: If True, outline the kept pixels.
        truth: (b, d) of bool, the ground truth, which is outlined. None: unknown.
        ax: Axes to draw on. None: axes of a new figure.
    """
    features = explained_patches(explanation, needs_images=False)
    (row,) = rows_to_draw([row], len(explanation))
    scores = on_pixels(features, explanation.scores[row])
    ax = axes_or_new(ax, 4.4, 0.6 + height_of(features, 3.5))
    show(ax, coloured(scores, *shade(scores)), features.shape)
    marks = []
    if kept:
        outline(ax, on_pixels(features, explanation.mask[row]) > 0, colour=INK, width=1.0)
        marks.append(Line2D([], [], color=INK, linewidth=1.0, label="outline of the kept pixels"))
    if truth is not None:
        outline(ax, on_pixels(features, features.feature_truth(truth, len(explanation))[row]) > 0)
    colour_bar(ax, *shade(scores), score_word(explanation))
    heading(ax, read_row(explanation, row, most=0).title, [*marks, *([] if truth is None else [TRUE])])
    return ax


def mask_tiles(explanation: Explanation, rows: Sequence[int], *, true: Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw one small picture per row: kept pixels are blue, darker for a higher score, and true features are outlined."""
    features = explained_patches(explanation, needs_images=False)
    high, wide = features.shape[1:]
    down, across = high + max(1, round(GAP * high)), wide + max(1, round(GAP / 2 * wide))
    columns = min(len(rows), max(1, round(sqrt(len(rows) * down / across))))
    lines = ceil(len(rows) / columns)
    sheet = np.ones((lines * down, columns * across, 3))
    scores = score_maps(explanation, rows)
    kept = np.stack([kept_on(features, explanation.mask[row]).mean(-1) for row in rows])  # shares of the channels
    scale, _ = shade(scores[kept > 0])
    ax = axes_or_new(ax, max(4.2, 0.85 * columns), 1.0 + max(4.2, 0.85 * columns) * sheet.shape[0] / sheet.shape[1])
    for nth, row in enumerate(rows):
        top, left = nth // columns * down + down - high, nth % columns * across
        tile = coloured(scores[nth], scale, KEPT_SHADES) * kept[nth, ..., None] + PALE * (1 - kept[nth, ..., None])
        sheet[top : top + high, left : left + wide] = tile
        ax.text(left - 0.5, top - 0.5, literal(row_label(explanation, row), 10), size=TEXT - 1.5, color=INK, ha="left", va="bottom")
        if true is not None:
            outline(ax, on_pixels(features, true[row]) > 0, at=(top, left), width=1.2)
    ax.imshow(sheet, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    title = f"Patches kept in {some_of(len(rows), len(explanation), 'row')}"
    heading(ax, title, [Patch(color=KEPT_SHADES(0.5), label="kept"), *([] if true is None else [TRUE])])
    return ax


def patch_rates(explanation: Explanation, *, most: int = 30, ax: Axes | None = None) -> Axes:  # noqa: ARG001  a map shows all
    """Draw the share of images that keep each patch, as a map of the image."""
    features = explained_patches(explanation, needs_images=False)
    rates = on_pixels(features, kept_rates(explanation))
    scale = Normalize(0, float(rates.max()) or 1.0)
    ax = axes_or_new(ax, 4.7, 0.5 + height_of(features, 3.7))
    show(ax, coloured(rates, scale, SHADES), features.shape)
    each = ", mean of the channels" if features.each_channel else ""
    colour_bar(ax, scale, SHADES, f"share of rows that keep it{each}")
    heading(ax, f"How often each patch is kept, of {pluralise(len(explanation), 'row')}")
    return ax
