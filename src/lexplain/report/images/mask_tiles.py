"""The masks of many images, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from torch import Tensor

from lexplain.core import Explanation
from lexplain.report.figures.canvas import INK, KEPT_SHADES, TEXT, axes_or_new, heading, literal
from lexplain.report.rows import row_label
from lexplain.report.wording import count

from .image_axes import TRUE, outline
from .paint import coloured, shade
from .picture import explained_patches, kept_on, on_pixels

PALE = 0.93  # what is not kept
GAP = 0.3  # above a tile for its name, as a share of its height; half of it stands beside a tile


def mask_tiles(explanation: Explanation, rows: Sequence[int], *, true: Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw one small picture a row: what is kept is blue, darker for a higher score, and what is true is outlined.

    Args:
        explanation: An explanation of images, by patches; the images themselves are not needed.
        rows: Positions.
        true: (b, d) of bool, where it is known: the features that really decide.
        ax: Where to draw; None makes a figure.
    """
    features = explained_patches(explanation, needs_images=False)
    high, wide = features.shape[1:]
    down, across = high + max(1, round(GAP * high)), wide + max(1, round(GAP / 2 * wide))
    columns = min(len(rows), max(1, round(sqrt(len(rows) * down / across))))
    lines = ceil(len(rows) / columns)
    sheet = np.ones((lines * down, columns * across, 3))
    scores = np.stack([on_pixels(features, explanation.scores[row]) for row in rows])
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
    of_rows = count(len(rows), "row") if len(rows) == len(explanation) else f"{len(rows)} of {count(len(explanation), 'row')}"
    heading(ax, f"Patches kept in {of_rows}", [Patch(color=KEPT_SHADES(0.5), label="kept"), *([] if true is None else [TRUE])])
    return ax
