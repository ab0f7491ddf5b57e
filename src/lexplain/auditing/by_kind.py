"""How scores of another tool are laid out for each kind of features. A kind of your own need not be here: scores are then as its rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.contracts import Features, RawRows
from ..features import Patches, features_for
from ..features.images import image_layout

# Scores and the rows that they are of, to fitted features of them, and the scores in their order; None: they are of no such features.
LayOut = Callable[[np.ndarray, RawRows], tuple[Features | None, np.ndarray]]


def _of_pixels(scores: np.ndarray, data: RawRows) -> tuple[Features | None, np.ndarray]:
    """The pixels that scores of images are of, each channel's or all together, and the scores in their order."""
    try:
        layout = image_layout(data.shape, None)
    except ValueError:  # either axis could be the channels: as PyTorch has them
        layout = "NCHW"
    axis = {"NCHW": 1, "NHWC": 3, "NHW": None}[layout]
    if axis is not None and scores.ndim == 4 and scores.shape[axis] == 1:
        scores = scores.squeeze(axis)
    pixels = tuple(size for place, size in enumerate(data.shape) if place != axis)
    if scores.shape == pixels:
        return Patches(1, layout=layout).fit(data), scores
    if scores.shape == data.shape:
        assert axis is not None  # else the pixels are all there is
        return Patches(1, layout=layout, each_channel=True).fit(data), np.moveaxis(scores, axis, 1)
    return None, scores


LAYOUTS: dict[str, LayOut] = {"patches": _of_pixels}


def laid_out(scores: np.ndarray, data: RawRows) -> tuple[Features | None, np.ndarray]:
    """What another tool's scores of rows are of, where the kind of the rows has a way to tell, and the scores in its order."""
    lay_out = LAYOUTS.get(features_for(data).kind)
    return (None, scores) if lay_out is None or scores.dtype.kind not in "biuf" else lay_out(scores, data)
