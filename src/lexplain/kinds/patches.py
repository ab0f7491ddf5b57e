"""Images: square patches of pixels are the features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from ..core.contracts import Encoded, Features, Model, RawRows
from ..core.dataset import Dataset
from ..core.kinds import Kind, Pace
from ..core.rows import as_array
from .columns import dense_selector, ensemble, marginal

if TYPE_CHECKING:
    from ..methods import Recipe
    from ..models import Target
    from ..report.pictures import Pictures


def _suits(X: RawRows) -> bool:
    """Whether rows have three or four axes, and at least two axes of a row are longer than 1."""
    shape = getattr(X, "shape", None)
    if shape is None:
        try:
            shape = as_array(X).shape
        except ValueError:  # rows of different lengths
            return False
    return len(shape) in (3, 4) and sum(n > 1 for n in shape[1:]) >= 2


def _features() -> Features:
    from ..features import Patches

    return Patches(None)


def _restore(state: Mapping[str, Any]) -> Features:
    from ..features import Patches

    return Patches.restore(state)


def _selector(features: Features, *, context: int, activation: type[nn.Module] = nn.ReLU) -> nn.Module:  # noqa: ARG001  a U-Net has its own activation
    from ..features import patches_of
    from ..networks import UNet

    patches = patches_of(features)
    return UNet(patches.shape, patches.grid, layers=patches.layers, context=context)


def _predictor(features: Features, count: int, *, sees_mask: bool, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    from ..networks import cnn

    return cnn(features.shape, count, sees_mask=sees_mask, activation=activation)


def _method() -> Recipe:
    from ..methods import sufficient

    return sufficient


def _pictures() -> Pictures:
    from ..report.pictures import PATCHES

    return PATCHES


def _lay_out(scores: np.ndarray, data: RawRows) -> tuple[Features | None, np.ndarray]:
    """The features of scores of images (pixels, or pixels per channel), and the scores in their order."""
    from ..features import Patches
    from ..features.images import image_layout

    try:
        layout = image_layout(data.shape, None)
    except ValueError:  # ambiguous channel axis: PyTorch's order
        layout = "NCHW"
    axis = {"NCHW": 1, "NHWC": 3, "NHW": None}[layout]
    if axis is not None and scores.ndim == 4 and scores.shape[axis] == 1:
        scores = scores.squeeze(axis)
    pixels = tuple(size for index, size in enumerate(data.shape) if index != axis)
    if scores.shape == pixels:
        return Patches(1, layout=layout).fit(data), scores
    if scores.shape == data.shape:
        assert axis is not None  # without a channel axis, the shapes of pixels and data are equal
        return Patches(1, layout=layout, each_channel=True).fit(data), np.moveaxis(scores, axis, 1)
    return None, scores


def _as_model(encoded: nn.Module, features: Features, target: Target) -> Model:
    """The network unchanged if encoding has no effect, otherwise a function of images."""
    from ..features import patches_of
    from ..models import EncodedModel

    patches = patches_of(features)
    same = patches.layout == "NCHW" and patches.dtype == "float32"
    return encoded if same and not target.outputs.real else EncodedModel(encoded, features, target)


def _encode_unchecked(features: Features, X: RawRows, device: torch.device) -> tuple[Encoded, Callable[[], None]]:
    """Encode images, and return the check of their numbers, which runs while a GPU computes."""
    from ..features import patches_of

    return patches_of(features).encode_unchecked(X, device)


def _size_in_words(data: Dataset, features: Features) -> dict[str, str]:
    from ..features import patches_of

    channels, height, width = data.train.x.shape[1:]
    grid = " x ".join(map(str, patches_of(features.fit(data.train.x[:1])).grid))
    return {"pixels": f"{height} x {width}, {'grey' if channels == 1 else 'in colour'}", "features": f"{grid} patches of pixels"}


PATCHES = Kind(
    "patches",
    suits=_suits,
    features=_features,
    restore=_restore,
    selector=_selector,
    regressor=dense_selector,
    predictor=_predictor,
    ensemble=ensemble,
    imputer=marginal,
    method=_method,
    pace=Pace(batch_size=256, warmup_steps=100, max_numbers=2**23),
    pictures=_pictures,
    lay_out=_lay_out,
    as_model=_as_model,
    encode_unchecked=_encode_unchecked,
    size_in_words=_size_in_words,
)
