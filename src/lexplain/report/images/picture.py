"""Images and what is kept of them as they are shown: red, green and blue in [0, 1], whatever layout, units and channels they came in."""

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
SIDE = 112  # small images are enlarged to about so many pixels, and so stay sharp wherever they are shown
HIDDEN = np.array([to_rgb("#cdbf9f"), to_rgb("#b5a47f")])  # stripes of sand: neither black, nor white, nor grey, even in print
FADED = 0.35  # black in an overlay, so that the tint can be told from it
TINT = 0.62
CAPTIONS = ("the image", "kept, on it", "kept, alone", "scores")
# From nothing (white) on; 40 shades, as from 50 on matplotlib would draw the colour bar as pixels.
SHADES: Colormap = LinearSegmentedColormap.from_list("scores", ["#ffffff", "#a6cbe6", "#0072B2", "#00304d"], N=40)
SIGNED: Colormap = LinearSegmentedColormap.from_list("signed", ["#6e3000", ORANGE, "#f4c39e", "#ffffff", "#a6cbe6", BLUE, "#00304d"], N=41)


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


def shown_images(explanation: Explanation, rows: Sequence[int]) -> np.ndarray:
    """Images as they are shown (b, rows, columns, 3)."""
    span = span_of(explanation.data)
    return displayed(images_of(explanation, rows), span)


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


def score_maps(explanation: Explanation, rows: Sequence[int]) -> np.ndarray:
    """Scores of some rows as maps (b, rows, columns)."""
    features = explained_patches(explanation, needs_images=False)
    return np.stack([on_pixels(features, explanation.scores[row]) for row in rows])


def kept_on(features: Patches, mask: Tensor) -> np.ndarray:
    """A mask of features (d,) as what is shown of a picture (rows, columns, 3); of other than three channels, where any is."""
    raw = features.expand(mask.detach().bool().cpu()).numpy()  # (channels, rows, columns)
    return np.moveaxis(raw, 0, -1) if len(raw) == 3 else np.repeat(raw.max(0)[..., None], 3, -1)


def scale_of(rows: int, columns: int) -> int:
    """How many times an image is enlarged."""
    return max(1, round(SIDE / max(rows, columns)))


def enlarged(picture: np.ndarray) -> np.ndarray:
    """A picture (rows, columns, ...) with every pixel a square of several; one that is enlarged already stays as it is."""
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


def four_views(
    explanation: Explanation, rows: Sequence[int], look: tuple[Normalize, Colormap], *, step: int = 1
) -> dict[str, list[np.ndarray]]:
    """Pictures of every row by their caption: the image, what is kept on it and alone, and the scores; of every so many pixels."""
    features = explained_patches(explanation)
    images = shown_images(explanation, rows)[:, ::step, ::step]
    kept = [kept_on(features, explanation.mask[row])[::step, ::step] for row in rows]
    scores = [coloured(each, *look) for each in score_maps(explanation, rows)[:, ::step, ::step]]
    views = (list(images), list(map(overlaid, images, kept)), list(map(kept_alone, images, kept)), scores)
    return dict(zip(CAPTIONS, views, strict=True))
