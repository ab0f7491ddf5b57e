"""What is kept, on the image."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from lexplain.core import Explanation

from .image_axes import KEPT
from .one_image import one_image
from .paint import overlaid


def image_overlay(explanation: Explanation, row: int, *, truth: np.ndarray | Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw an image in faded grey with a tint of blue on the pixels that are kept.

    Args:
        explanation: An explanation of images, by patches.
        row: The position of the image.
        truth: (b, d) of bool, where it is known: the features that really decide, to be outlined.
        ax: Where to draw; None makes a figure.
    """
    return one_image(explanation, row, overlaid, marks=[KEPT], truth=truth, ax=ax)
