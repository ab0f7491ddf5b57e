"""Images as they are shown: red, green and blue in [0, 1], whatever layout, units and channels they came in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from lexplain.core import Explanation
from lexplain.core.contracts import Features
from lexplain.features import Patches, is_patches, patches_of

Span = tuple[float, float]  # the encoded values that are shown as black and as white


def explained_patches(explanation: Explanation, *, needs_images: bool = True) -> Patches:
    """The patches of an explanation of images; refuse any other, and one without its images where they are needed."""
    features = explanation.features
    fits = features is not None and features.count == explanation.scores.shape[1]
    return fitted_patches(features if fits else None, explanation.data if needs_images else ())


def fitted_patches(features: Features | None, images: object) -> Patches:
    """The patches of some images; refuse features of another kind, and images that are None."""
    if not (is_patches(features) and features.is_fitted):
        raise TypeError("this explanation is not of images, so there is none to draw; explain with features=Patches(...), or use row_bars")
    if images is None:
        raise ValueError("this explanation came without its images; give them with dataclasses.replace(explanation, data=images)")
    return patches_of(features)


def rows_to_draw(rows: Sequence[int], many: int) -> list[int]:
    """Return positions of rows to draw; refuse none, and those that are not there."""
    if not rows or not all(-many <= row < many for row in rows):
        raise ValueError(f"rows {list(rows)[:5]} were asked for, but at least one of the {many} rows, counted from 0, is needed")
    return [int(row) % many for row in rows]


def images_of(explanation: Explanation, rows: Sequence[int]) -> Tensor:
    """Encoded images (b, channels, rows, columns)."""
    features = explained_patches(explanation)
    # Pictures are of the images that are there, whatever units the fit had.
    return replace(features, span=None).encode(np.asarray(explanation.data)[np.asarray(rows)]).x


def span_of(data: object) -> Span:
    """What is shown as black and as white: 0 and 1 where nothing lies beyond, else the least and the greatest of all the images."""
    values = np.asarray(data)
    if values.dtype.kind in "ub":  # encoded into [0, 1]
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)


def displayed(x: Tensor, span: Span) -> np.ndarray:
    """Encoded images (b, channels, rows, columns) as (b, rows, columns, 3) in [0, 1].

    Four channels are colour over white; any number but one, three and four is shown as its mean.
    """
    values: np.ndarray = x.detach().cpu().movedim(1, -1).numpy()
    values = np.clip((values - span[0]) / (span[1] - span[0]), 0, 1)
    if values.shape[-1] == 4:
        values = values[..., :3] * values[..., 3:] + 1 - values[..., 3:]
    return values if values.shape[-1] == 3 else values.mean(-1, keepdims=True).repeat(3, -1)


def legend_of(features: Patches, span: Span) -> str:
    """What a reader must know of how values became colours; empty where they are shown as they are."""
    said = [] if span == (0.0, 1.0) else [f"Values from {span[0]:.3g} to {span[1]:.3g} are shown as black to white."]
    said += [] if features.shape[0] in (1, 3, 4) else [f"Of {features.shape[0]} channels the mean is shown."]
    said += ["Stripes on a colour: some channels are hidden."] if features.each_channel and features.shape[0] == 3 else []
    return " ".join(said)


def height_of(features: Patches, width: float) -> float:
    """Inches that a picture takes where it is so wide."""
    return width * min(2.5, max(0.3, features.shape[1] / features.shape[2]))


def on_pixels(features: Patches, values: Tensor) -> np.ndarray:
    """Values of features (d,) as a map (rows, columns): the mean of the channels, where each is a feature of its own."""
    return features.expand(values.detach().float().cpu()).mean(0).numpy()


def kept_on(features: Patches, mask: Tensor) -> np.ndarray:
    """A mask of features (d,) as what is shown of a picture (rows, columns, 3); of other than three channels, where any is."""
    raw = features.expand(mask.detach().bool().cpu()).numpy()  # (channels, rows, columns)
    return np.moveaxis(raw, 0, -1) if len(raw) == 3 else np.repeat(raw.max(0)[..., None], 3, -1)
