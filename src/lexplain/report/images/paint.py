"""Pictures of what is kept, as arrays that any page or figure can hold."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, to_rgb

from lexplain.report.figures.canvas import BLUE, ORANGE

SIDE = 112  # small images are enlarged to about so many pixels, and so stay sharp wherever they are shown
HIDDEN = np.array([to_rgb("#cdbf9f"), to_rgb("#b5a47f")])  # stripes of sand: neither black, nor white, nor grey, even in print
FADED = 0.35  # black in an overlay, so that the tint can be told from it
TINT = 0.62
# From nothing (white) on; 40 shades, as from 50 on matplotlib would draw the colour bar as pixels.
SHADES: Colormap = LinearSegmentedColormap.from_list("scores", ["#ffffff", "#a6cbe6", "#0072B2", "#00304d"], N=40)
SIGNED: Colormap = LinearSegmentedColormap.from_list("signed", ["#6e3000", ORANGE, "#f4c39e", "#ffffff", "#a6cbe6", BLUE, "#00304d"], N=41)


def scale_of(rows: int, columns: int) -> int:
    """How many times an image is enlarged."""
    return max(1, round(SIDE / max(rows, columns)))


def enlarged(picture: np.ndarray) -> np.ndarray:
    """A picture (rows, columns, ...) with every pixel a square of several."""
    times = scale_of(*picture.shape[:2])
    return picture.repeat(times, 0).repeat(times, 1)


def kept_alone(image: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Kept pixels as they are and stripes for the rest, both (rows, columns, 3); enlarged, so that a pixel has stripes of its own.

    Where only some channels are kept, the others are their mean, and every second stripe lies on it.
    """
    some = kept.sum(-1, keepdims=True)
    mean = (image * kept).sum(-1, keepdims=True) / np.maximum(some, 1)
    image, kept, some = enlarged(np.where(kept, image, mean)), enlarged(some == kept.shape[-1]), enlarged(some > 0)
    down, across = np.indices(image.shape[:2])
    wide = max(2, max(image.shape) // 50)
    every_second = (down + across) // wide % 2
    return np.where(kept | (some & (every_second == 0)[..., None]), image, HIDDEN[every_second])


def overlaid(image: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """A faded grey image (rows, columns, 3) with a tint of blue on what is kept."""
    grey = FADED + (1 - FADED) * image @ np.array([0.299, 0.587, 0.114])  # luma of ITU-R BT.601
    faded = grey[..., None].repeat(3, -1)
    share = TINT * kept.mean(-1, keepdims=True)  # a pixel of which one channel is kept has a third of the tint
    return faded * (1 - share) + np.array(to_rgb(BLUE)) * share  # type: ignore[no-any-return]


def shade(scores: np.ndarray) -> tuple[Normalize, Colormap]:
    """The scale and the colours of scores: from nothing (white) on, or both ways from it where some are negative."""
    known = scores[np.isfinite(scores)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if low >= 0:
        return Normalize(0, high or 1.0), SHADES
    most = max(high, -low)
    return Normalize(-most, most), SIGNED


def coloured(scores: np.ndarray, scale: Normalize, colours: Colormap) -> np.ndarray:
    """A map of scores (rows, columns) in colours (rows, columns, 3)."""
    filled = np.nan_to_num(scores, nan=0.0, posinf=float(scale.vmax or 1), neginf=float(scale.vmin or 0))
    return np.asarray(colours(scale(filled)))[..., :3]
