"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check

SLACK = 0.5  # how far brighter or darker images may be than [0, 1] and still be of these units
BRIGHT, FAR = 128, 10  # numbers as large are bytes, whatever their type; and so many times larger than the fit's are of other units


def some_rows_of_a_frame(X: Any, columns: Sequence[str]) -> None:
    """Refuse no rows, and an array where the fit saw categories, which arrays do not name."""
    if not isinstance(X, pd.DataFrame):
        raise ValueError(
            f"X is a {type(X).__name__}, but columns {list(columns)[:5]} held categories in the fit; give a DataFrame with the same columns"
        )
    if len(X) == 0:
        check.finite_numbers(np.zeros(X.shape))


def require_readable_by_network(columns: Sequence[str]) -> None:
    """Refuse to hand categories to a torch network."""
    if columns:
        raise ValueError(
            f"columns {list(columns)[:5]} hold categories, but a torch network reads numbers; pass a function of DataFrames that encodes "
            "them and asks the network, or encode them yourself and make each one a feature with Groups(...)"
        )


def same_columns(given: Any, count: int, names: Sequence[str] | None) -> None:
    """Refuse rows whose columns are not those of the fit."""
    shape = given.shape if isinstance(given, pd.DataFrame) else check.as_array(given).shape  # np.shape refuses some that can become arrays
    if len(shape) == 2 and shape[1] != count:
        raise ValueError(f"X has {shape[1]} features, but Explainer is expecting {count} features as input; pass the columns of the fit")
    if names is not None and isinstance(given, pd.DataFrame):
        got = [str(c) for c in given.columns]
        if got != list(names):
            odd = [c for c in got if c not in names] or got
            raise ValueError(
                f"The feature names should match those that were passed during fit: got {odd[:5]}, "
                f"needed {list(names)[:5]}…, in that order; rename or reorder the columns"
            )


def groups_fit(groups: Mapping[str, Sequence[str | int]], columns: Sequence[str]) -> None:
    """Refuse groups of columns that do not exist or are named twice."""
    seen: dict[int, str] = {}
    for name, members in groups.items():
        for column in members:
            known = column in columns if isinstance(column, str) else 0 <= column < len(columns)
            if not known:
                raise ValueError(f"group {name!r} names column {column!r}, which is not there; the columns are {list(columns)[:20]}")
            j = columns.index(column) if isinstance(column, str) else int(column)
            if j in seen:
                raise ValueError(f"column {columns[j]!r} is in the groups {seen[j]!r} and {name!r}; a column belongs to one group")
            seen[j] = name
        if not members:
            raise ValueError(f"group {name!r} has no columns; name at least one, or leave the group out")
    for name in groups:
        if name in columns and columns.index(name) not in seen:
            raise ValueError(f"group {name!r} has the name of a column outside it, so the two could not be told apart; rename the group")


def truth_values(truth: object) -> Tensor:
    """Return the truth of whatever shape as bool."""
    return torch.as_tensor(check.as_array(truth)).bool()


def truth_of(truth: object, rows: int, count: int) -> Tensor:
    """Return the truth (rows, features) of the rows explained; refuse that of others."""
    known = truth_values(truth)
    if known.shape != (rows, count):
        raise ValueError(
            f"the truth has shape {tuple(known.shape)}, but {rows} rows of {count} features are explained; "
            "explain the rows that it is the truth of"
        )
    return known


def image_array(X: Any) -> np.ndarray:
    """Return images as an array of numbers, NaN and infinity among them; refuse other shapes and text."""
    if isinstance(X, pd.DataFrame):
        raise TypeError(
            "X is a DataFrame, but an array of images is needed: (n, channels, rows, columns), (n, rows, columns, channels) or "
            "(n, rows, columns); use X.to_numpy().reshape(...), or leave features out to explain columns"
        )
    values = check.as_array(X)
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
    if not max(map(abs, span)) <= check.GREATEST:  # both are NaN where any value is
        odd = np.flatnonzero(~(np.abs(images.reshape(len(images), -1)) <= check.GREATEST).all(1))
        first = images[odd[0]]
        kind = "NaN" if np.isnan(first).any() else "infinity" if np.isinf(first).any() else "a value too large for float32"
        raise ValueError(
            f"Input X contains {kind} (in {len(odd)} of {len(images)} images, first in image {odd[0]}); fill what is missing, "
            "or drop such images"
        )
    return span


def patch_size(size: Any) -> tuple[int, int]:
    """Return the rows and columns of a patch; refuse what are not one or two whole numbers from 1."""
    both = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    if len(both) != 2 or not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 1 for n in both):
        raise ValueError(f"a patch of size {size!r} was asked for, but a whole number of pixels from 1, or (rows, columns), is needed")
    return int(both[0]), int(both[1])


def patches_fit(size: tuple[int, int], shape: Sequence[int]) -> None:
    """Refuse patches larger than the image."""
    if size[0] > shape[-2] or size[1] > shape[-1]:
        raise ValueError(
            f"patches of {size[0]} x {size[1]} pixels are larger than the images of {shape[-2]} x {shape[-1]}; give a smaller size"
        )


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
