"""How a network of encoded rows becomes one that people would have, for each kind of features. A kind of your own need not be here."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from torch import nn

from ..core.contracts import Features, Model, RawRows
from ..features import Columns, patches_of
from ..predictors import Target

AsModel = Callable[[nn.Module, Features, Target], Model]


class EncodedModel:
    """A network of encoded rows as a function of raw ones: class probabilities, or values."""

    def __init__(self, encoded: nn.Module, features: Features, target: Target) -> None:
        self.encoded, self.features, self.target = encoded, features, target

    @torch.no_grad()
    def __call__(self, rows: RawRows) -> np.ndarray:
        """Ask the network."""
        output = self.encoded(self.features.encode(rows).x).double()
        real = self.target.outputs.real
        answer: np.ndarray = (output * self.target.scale + self.target.mean if real else output.softmax(1)).numpy()
        return answer


def _of_tables(encoded: nn.Module, features: Features, target: Target) -> Model:
    """The same network of rows in their own units, answering in the target's: both are one more linear map, put into the ends.

    Where columns hold categories, which no network reads, it is a function of rows.
    """
    columns = cast("Columns", features)
    if columns.categorical:
        return EncodedModel(encoded, features, target)
    linear = [layer for layer in encoded.modules() if isinstance(layer, nn.Linear)]
    mean, scale = torch.as_tensor(columns.mean), torch.as_tensor(columns.scale)
    first, last = linear[0], linear[-1]
    weight = first.weight.double() / scale
    first.bias.copy_(first.bias - weight @ mean)
    first.weight.copy_(weight)
    last.weight.mul_(target.scale)
    last.bias.mul_(target.scale).add_(target.mean)
    return encoded


def _of_images(encoded: nn.Module, features: Features, target: Target) -> Model:
    """The network itself where encoding changes nothing, else a function of images."""
    patches = patches_of(features)
    as_given = patches.layout == "NCHW" and patches.dtype == "float32"
    return encoded if as_given and not target.outputs.real else EncodedModel(encoded, features, target)


AS_MODEL: dict[str, AsModel] = {"columns": _of_tables, "patches": _of_images}


def as_model(encoded: nn.Module, features: Features, target: Target) -> Model:
    """A network of encoded rows as a model of raw rows: an `nn.Module` where the kind has a way, else a function."""
    return AS_MODEL.get(features.kind, EncodedModel)(encoded, features, target)
