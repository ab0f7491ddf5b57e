"""Checks of raw images."""

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
CHANNELS = (1, 3, 4)  # of grey, colour, and colour with transparency; an axis of this size is the channel axis
SLACK = 0.5  # tolerance around [0, 1] within which images still count as scaled to it
BRIGHT, FAR = 128, 10  # numbers from 128 on are bytes, whatever their type; 10 times the largest of the fit are other units


def image_array(X: RawRows) -> np.ndarray:
    """Return images as an array of numbers; raise for text and other shapes. NaN and infinity are not checked."""
    if isinstance(X, pd.DataFrame):
        raise TypeError(
            "X is a DataFrame, but an array of images is needed: (n, channels, rows, columns), (n, rows, columns, channels) or "
            "(n, rows, columns). Use X.to_numpy().reshape(...), or leave features out to explain columns."
        )
    values = as_array(X)
    if values.dtype.kind not in "biuf":
        hint = " Use np.stack(X), which needs images of one size." if values.dtype.kind == "O" else ""
        raise ValueError(f"Images must be numbers, got {values.dtype}.{hint}")
    if values.ndim not in (3, 4) or 0 in values.shape:
        raise ValueError(
            f"X has shape {values.shape}, but images are (n, channels, rows, columns), (n, rows, columns, channels) or (n, rows, columns), "
            "with no axis of length 0. Pass a single image as X[None]."
        )
    return values


def finite_span(images: np.ndarray) -> tuple[float, float]:
    """Return the smallest and largest number of images; raise for NaN, infinity and values too large for float32."""
    span = float(images.min()), float(images.max())
    if not max(map(abs, span)) <= FLOAT32_MAX:  # both are NaN if any value is
        invalid = np.flatnonzero(~(np.abs(images.reshape(len(images), -1)) <= FLOAT32_MAX).all(1))
        first = images[invalid[0]]
        kind = "NaN" if np.isnan(first).any() else "infinity" if np.isinf(first).any() else "a value too large for float32"
        raise ValueError(
            f"Input X contains {kind} (in {len(invalid)} of {len(images)} images, first in image {invalid[0]}). Fill missing values, "
            "or drop such images."
        )
    return span


def image_layout(shape: Sequence[int], layout: str | None) -> str:
    """Return the layout of images, by default found from their shape; raise if it does not fit or cannot be found."""
    if layout is not None:
        check.one_of(layout, list(LAYOUTS), "layout")
        if len(layout) != len(shape):
            raise ValueError(f"layout={layout!r} has {len(layout)} axes, but X has shape {tuple(shape)}.")
        return layout
    if len(shape) == 3:
        return "NHW"
    first, last = shape[1] in CHANNELS, shape[-1] in CHANNELS
    if first == last:
        both = "two axes fit" if first else "no axis fits"
        raise ValueError(
            f"Cannot find the channel axis of X with shape {tuple(shape)}: {both}. Pass Patches(layout='NCHW') or Patches(layout='NHWC')."
        )
    return "NCHW" if first else "NHWC"


def same_images(given: Sequence[int], shape: Sequence[int], layout: str | None) -> None:
    """Check that images have the shape of those in fit."""
    channels, rows, columns = shape
    needed = {"NCHW": (channels, rows, columns), "NHWC": (rows, columns, channels), "NHW": (rows, columns)}[str(layout)]
    if tuple(given[1:]) != needed:
        hint = "X[None]" if tuple(given) == needed else "X[:, None]" if (given[0], 1, *given[1:]) == (given[0], *needed) else "such images"
        raise ValueError(f"X has shape {tuple(given)}, but images in fit had (n, {', '.join(map(str, needed))}), {layout}. Pass {hint}.")


def same_units(given: np.dtype[Any], span: tuple[float, float], dtype: np.dtype[Any], known: tuple[float, float]) -> None:
    """Check that images have the units of those in fit; bytes and numbers in [0, 1] count as equal units."""
    whole, was_whole = given.kind == "u", dtype.kind == "u"
    in_unit = was_whole or (known[0] >= 0 and known[1] <= 1)
    size = max(map(abs, known))
    if whole:
        fits = given == dtype if was_whole else in_unit
    elif in_unit:
        fits = span[0] >= -SLACK and span[1] <= 1 + SLACK
    else:  # other units: only numbers in [0, 1] after a fit on bytes, or far beyond those of the fit, can be detected
        fits = max(map(abs, span)) <= FAR * size and not (size >= BRIGHT and span[0] >= 0 and 0 < span[1] <= 1)
    if not fits:
        was = f"{dtype}" if was_whole else f"{dtype} from {known[0]:g} to {known[1]:g}"
        hint = "numbers in [0, 1]: divide bytes by 255" if in_unit else f"{dtype} in the same units"
        hint = f"{dtype}, or {hint}" if was_whole else hint
        raise ValueError(f"Images are {given} from {span[0]:g} to {span[1]:g}, but in fit they were {was}. Pass {hint}.")
