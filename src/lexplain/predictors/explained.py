"""The explained model as a predictor."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
from torch import Tensor, nn

from ..core.contracts import Features, RawRows
from ..core.rows import as_array
from .black_box import BlackBox, CachedModel
from .frozen import Frozen
from .target import NetworkFunction, Target


def frozen_predictor(ask: CachedModel, target: Target, features: Features) -> nn.Module:
    """The explained model as a predictor that never trains."""
    function = ask.function
    if isinstance(function, NetworkFunction):
        network: nn.Module = copy.deepcopy(function.network).float()  # as encoded rows are
        if target.outputs.real:
            network = _Standardised(network, target.mean, target.scale)
        return Frozen(network, target.outputs, to_raw=features.to_network, probabilities=function.probabilities)
    return BlackBox(_StandardisedFunction(function, target), target.outputs, decode=features.decode)


class _Standardised(nn.Module):
    """A network whose values are in standardised units."""

    def __init__(self, network: nn.Module, mean: float, scale: float) -> None:
        super().__init__()
        self.network, self.mean, self.scale = network, mean, scale

    def forward(self, x: Tensor) -> Tensor:
        values: Tensor = self.network(x)
        return (values - self.mean) / self.scale


class _StandardisedFunction:
    """A function whose values are in standardised units."""

    def __init__(self, function: Callable[[RawRows], object], target: Target) -> None:
        self.function, self.mean, self.scale = function, target.mean, target.scale

    def __call__(self, rows: RawRows) -> np.ndarray:
        said: np.ndarray = (as_array(self.function(rows)) - self.mean) / self.scale
        return said
