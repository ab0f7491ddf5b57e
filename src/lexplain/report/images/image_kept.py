"""What is kept of an image, and nothing else."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from lexplain.core import Explanation

from .image_axes import HID
from .one_image import one_image
from .paint import kept_alone


def image_kept(explanation: Explanation, row: int, *, truth: np.ndarray | Tensor | None = None, ax: Axes | None = None) -> Axes:
    """Draw the pixels that are kept as they are, and stripes where the image is hidden: black that is kept is no hidden pixel.

    Args:
        explanation: An explanation of images, by patches.
        row: The position of the image.
        truth: (b, d) of bool, where it is known: the features that really decide, to be outlined.
        ax: Where to draw; None makes a figure.
    """
    return one_image(explanation, row, kept_alone, marks=[HID], truth=truth, ax=ax)
