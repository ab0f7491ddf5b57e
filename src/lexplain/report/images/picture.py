"""Images and their kept pixels as pictures: red, green and blue in [0, 1], for images of any layout, unit and number of channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, to_rgb
from torch import Tensor

from lexplain.core import Explanation
from lexplain.core.contracts import Features
from lexplain.features import Patches, is_patches, patches_of
from lexplain.report.figures.canvas import BLUE, ORANGE

Span = tuple[float, float]  # the encoded values that are shown as black and as white
SIDE = 112  # small images are enlarged to about this number of pixels, so that browsers draw them sharply
HIDDEN = np.array([to_rgb("#cdbf9f"), to_rgb("#b5a47f")])  # stripes in a colour that differs from black, white and grey, even in print
FADED = 0.35  # grey of black pixels in an overlay, so that the tint is visible on them
TINT = 0.62
CAPTIONS = ("the image", "kept pixels on it", "kept pixels alone", "scores")
# From 0 (white); 40 shades, because matplotlib draws colour bars with 50 or more shades as pixels.
SHADES: Colormap = LinearSegmentedColormap.from_list("scores", ["#ffffff", "#a6cbe6", "#0072B2", "#00304d"], N=40)
SIGNED: Colormap = LinearSegmentedColormap.from_list("signed", ["#6e3000", ORANGE, "#f4c39e", "#ffffff", "#a6cbe6", BLUE, "#00304d"], N=41)


def explained_patches(explanation: Explanation, *, needs_images: bool = True) -> Patches:
    """The patches of an explanation of images. Raise for other explanations, and if its images are needed but missing."""
    features = explanation.features
    fits = features is not None and features.count == explanation.scores.shape[1]
    return fitted_patches(features if fits else None, explanation.data if needs_images else ())


def fitted_patches(features: Features | None, images: object) -> Patches:
    """The patches of some images. Raise if the features are not patches, or if images is None."""
    if not (is_patches(features) and features.is_fitted):
        raise TypeError("This explanation does not explain images. Explain with features=Patches(...), or use row_bars.")
    if images is None:
        raise ValueError("This explanation does not contain its images. Add them with dataclasses.replace(explanation, data=images).")
    return patches_of(features)


def rows_to_draw(rows: Sequence[int], many: int) -> list[int]:
    """Return positions of rows to draw. Raise if there are none, or if one does not exist."""
    if not rows or not all(-many <= row < many for row in rows):
        raise ValueError(f"rows must contain at least one position below {many}, counted from 0, got {list(rows)[:5]}.")
    return [int(row) % many for row in rows]


def images_of(explanation: Explanation, rows: Sequence[int]) -> Tensor:
    """Encoded images (b, channels, rows, columns)."""
    features = explained_patches(explanation)
    # The span comes from the images themselves, because the fit may have used other units.
    return replace(features, span=None).encode(np.asarray(explanation.data)[np.asarray(rows)]).x


def shown_images(explanation: Explanation, rows: Sequence[int]) -> np.ndarray:
    """Images as pictures (b, rows, columns, 3)."""
    span = span_of(explanation.data)
    return displayed(images_of(explanation, rows), span)


def span_of(data: object) -> Span:
    """The values shown as black and as white: 0 and 1 if all values are between them, otherwise the minimum and the maximum."""
    values = np.asarray(data)
    if values.dtype.kind in "ub":  # encoded into [0, 1]
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)


def displayed(x: Tensor, span: Span) -> np.ndarray:
    """Encoded images (b, channels, rows, columns) as pictures (b, rows, columns, 3) in [0, 1].

    Four channels are colours with transparency, over white. Of two, five or more channels, the mean is shown.
    """
    values: np.ndarray = x.detach().cpu().movedim(1, -1).numpy()
    values = np.clip((values - span[0]) / (span[1] - span[0]), 0, 1)
    if values.shape[-1] == 4:
        values = values[..., :3] * values[..., 3:] + 1 - values[..., 3:]
    return values if values.shape[-1] == 3 else values.mean(-1, keepdims=True).repeat(3, -1)


def legend_of(features: Patches, span: Span) -> str:
    """A text about how values are shown as colours; empty if they are shown unchanged."""
    notes = [] if span == (0.0, 1.0) else [f"Values from {span[0]:.3g} to {span[1]:.3g} are shown as black to white."]
    notes += [] if features.shape[0] in (1, 3, 4) else [f"The mean of {features.shape[0]} channels is shown."]
    notes += ["Stripes on a colour: some channels are hidden."] if features.each_channel and features.shape[0] == 3 else []
    return " ".join(notes)


def height_of(features: Patches, width: float) -> float:
    """Height in inches of a picture of this width."""
    return width * min(2.5, max(0.3, features.shape[1] / features.shape[2]))


def on_pixels(features: Patches, values: Tensor) -> np.ndarray:
    """Values of features (d,) as a map (rows, columns). If channels are separate features, their mean is shown."""
    return features.expand(values.detach().float().cpu()).mean(0).numpy()


def score_maps(explanation: Explanation, rows: Sequence[int]) -> np.ndarray:
    """Scores of some rows as maps (b, rows, columns)."""
    features = explained_patches(explanation, needs_images=False)
    return np.stack([on_pixels(features, explanation.scores[row]) for row in rows])


def kept_on(features: Patches, mask: Tensor) -> np.ndarray:
    """A feature mask (d,) as the visible part of a picture (rows, columns, 3): per channel if there are three, otherwise of any channel."""
    encoded = features.expand(mask.detach().bool().cpu()).numpy()  # (channels, rows, columns)
    return np.moveaxis(encoded, 0, -1) if len(encoded) == 3 else np.repeat(encoded.max(0)[..., None], 3, -1)


def scale_of(rows: int, columns: int) -> int:
    """The factor by which an image is enlarged."""
    return max(1, round(SIDE / max(rows, columns)))


def enlarged(picture: np.ndarray) -> np.ndarray:
    """A picture (rows, columns, ...) with each pixel repeated as a square. A large picture is returned unchanged."""
    times = scale_of(*picture.shape[:2])
    return picture.repeat(times, 0).repeat(times, 1)


def kept_alone(image: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Kept pixels unchanged and stripes for hidden ones, both (rows, columns, 3); enlarged, so that each pixel has several stripes.

    If only some channels of a pixel are kept, the others show their mean, below every second stripe.
    """
    some = kept.sum(-1, keepdims=True)
    mean = (image * kept).sum(-1, keepdims=True) / np.maximum(some, 1)
    image, kept, some = enlarged(np.where(kept, image, mean)), enlarged(some == kept.shape[-1]), enlarged(some > 0)
    down, across = np.indices(image.shape[:2])
    wide = max(2, max(image.shape) // 50)
    every_second = (down + across) // wide % 2
    return np.where(kept | (some & (every_second == 0)[..., None]), image, HIDDEN[every_second])


def overlaid(image: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """A faded grey image (rows, columns, 3) with a tint of blue on its kept pixels."""
    grey = FADED + (1 - FADED) * image @ np.array([0.299, 0.587, 0.114])  # luma of ITU-R BT.601
    faded = grey[..., None].repeat(3, -1)
    share = TINT * kept.mean(-1, keepdims=True)  # a pixel with one kept channel has a third of the tint
    return faded * (1 - share) + np.array(to_rgb(BLUE)) * share  # type: ignore[no-any-return]


def shade(scores: np.ndarray) -> tuple[Normalize, Colormap]:
    """The scale and the colours of scores: from 0 (white) upwards, or in both directions if some scores are negative."""
    known = scores[np.isfinite(scores)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if low >= 0:
        return Normalize(0, high or 1.0), SHADES
    largest = max(high, -low)
    return Normalize(-largest, largest), SIGNED


def coloured(scores: np.ndarray, scale: Normalize, colours: Colormap) -> np.ndarray:
    """A map of scores (rows, columns) in colours (rows, columns, 3)."""
    filled = np.nan_to_num(scores, nan=0.0, posinf=float(scale.vmax or 1), neginf=float(scale.vmin or 0))
    return np.asarray(colours(scale(filled)))[..., :3]


def four_views(
    explanation: Explanation, rows: Sequence[int], look: tuple[Normalize, Colormap], *, step: int = 1
) -> dict[str, list[np.ndarray]]:
    """Pictures of rows by caption: image, kept pixels on it and alone, scores. Only every `step`-th pixel is used."""
    features = explained_patches(explanation)
    images = shown_images(explanation, rows)[:, ::step, ::step]
    kept = [kept_on(features, explanation.mask[row])[::step, ::step] for row in rows]
    scores = [coloured(each, *look) for each in score_maps(explanation, rows)[:, ::step, ::step]]
    views = (list(images), list(map(overlaid, images, kept)), list(map(kept_alone, images, kept)), scores)
    return dict(zip(CAPTIONS, views, strict=True))
