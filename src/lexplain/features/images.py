"""Images as they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .. import check
from ..core.contracts import RawRows
from ..core.rows import as_array
from .tables import FLOAT32_MAX

LAYOUTS = ("NCHW", "NHWC", "NHW")
CHANNELS = (1, 3, 4)  # of grey, colour, and colour with transparency: what tells a channel axis from an axis of pixels
SLACK = 0.5  # how far brighter or darker images may be than [0, 1] and still be of these units
BRIGHT, FAR = 128, 10  # numbers as large are bytes, whatever their type; and so many times larger than the fit's are of other units


def image_array(X: RawRows) -> np.ndarray:
    """Return images as an array of numbers, NaN and infinity among them; refuse other shapes and text."""
    if isinstance(X, pd.DataFrame):
        raise TypeError(
            "X is a DataFrame, but an array of images is needed: (n, channels, rows, columns), (n, rows, columns, channels) or "
            "(n, rows, columns); use X.to_numpy().reshape(...), or leave features out to explain columns"
        )
    values = as_array(X)
    if values.dtype.kind not in "biuf":
        way = "; use np.stack(X), which needs images of one size" if values.dtype.kind == "O" else ""
        raise ValueError(f"images hold {values.dtype}, but numbers are needed{way}")
    if values.ndim not in (3, 4) or 0 in values.shape:
        raise ValueError(
            f"X has shape {values.shape}, but images are (n, channels, rows, columns), (n, rows, columns, channels) or (n, rows, columns), "
            "none of them 0; one image is X[None]"
        )
    return values


def finite_span(images: np.ndarray) -> tuple[float, float]:
    """Return the least and the greatest number of images; refuse NaN, infinity and what float32 has not, naming the first such image."""
    span = float(images.min()), float(images.max())
    if not max(map(abs, span)) <= FLOAT32_MAX:  # both are NaN where any value is
        odd = np.flatnonzero(~(np.abs(images.reshape(len(images), -1)) <= FLOAT32_MAX).all(1))
        first = images[odd[0]]
        kind = "NaN" if np.isnan(first).any() else "infinity" if np.isinf(first).any() else "a value too large for float32"
        raise ValueError(
            f"Input X contains {kind} (in {len(odd)} of {len(images)} images, first in image {odd[0]}); fill what is missing, "
            "or drop such images"
        )
    return span


def image_layout(shape: Sequence[int], layout: str | None) -> str:
    """Return the layout of images, told or read off their shape; refuse one that does not fit, or cannot be told."""
    if layout is not None:
        check.one_of(layout, list(LAYOUTS), "layout")
        if len(layout) != len(shape):
            raise ValueError(f"layout={layout!r} has {len(layout)} axes, but X has shape {tuple(shape)}")
        return layout
    if len(shape) == 3:
        return "NHW"
    first, last = shape[1] in CHANNELS, shape[-1] in CHANNELS
    if first == last:
        both = "either axis could be" if first else "no axis looks like"
        raise ValueError(f"X has shape {tuple(shape)}, where {both} the channels; say Patches(layout='NCHW') or Patches(layout='NHWC')")
    return "NCHW" if first else "NHWC"


def same_images(given: Sequence[int], shape: Sequence[int], layout: str | None) -> None:
    """Refuse images of another shape than those of the fit."""
    channels, rows, columns = shape
    needed = {"NCHW": (channels, rows, columns), "NHWC": (rows, columns, channels), "NHW": (rows, columns)}[str(layout)]
    if tuple(given[1:]) != needed:
        way = "X[None]" if tuple(given) == needed else "X[:, None]" if (given[0], 1, *given[1:]) == (given[0], *needed) else "such images"
        raise ValueError(f"X has shape {tuple(given)}, but the fit was of images (n, {', '.join(map(str, needed))}), {layout}; pass {way}")


def same_units(given: np.dtype[Any], span: tuple[float, float], dtype: np.dtype[Any], known: tuple[float, float]) -> None:
    """Refuse images in other units than those of the fit: bytes and numbers in [0, 1] are of the same units, all else must be alike."""
    whole, was_whole = given.kind == "u", dtype.kind == "u"
    in_unit = was_whole or (known[0] >= 0 and known[1] <= 1)
    size = max(map(abs, known))
    if whole:
        fits = given == dtype if was_whole else in_unit
    elif in_unit:
        fits = span[0] >= -SLACK and span[1] <= 1 + SLACK
    else:  # numbers of any units: those of a fit on bytes, or far beyond those of the fit, can be told
        fits = max(map(abs, span)) <= FAR * size and not (size >= BRIGHT and span[0] >= 0 and 0 < span[1] <= 1)
    if not fits:
        was = f"{dtype}" if was_whole else f"{dtype} from {known[0]:g} to {known[1]:g}"
        way = "numbers in [0, 1]: divide bytes by 255" if in_unit else f"{dtype} in the same units"
        way = f"{dtype}, or {way}" if was_whole else way
        raise ValueError(f"images are {given} from {span[0]:g} to {span[1]:g}, but the fit was of {was}; pass {way}")
