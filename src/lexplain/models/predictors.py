"""Predictors from imputed rows: a trained network, a frozen network, any callable, and the explained model as one of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ..core import Outputs
from ..core.contracts import Features, RawRows
from .queried import NetworkFunction, QueriedModel, as_many_outputs
from .target import Target


class Trained(nn.Module):
    """Predict from imputed rows with a network that is trained.

    Args:
        network: Network from imputed rows (n, ...) to outputs (n, c).
        outputs: Type of the predictions.
        sees_mask: Append the encoded mask to the input (along axis 1), so that the network can tell hidden values from zeros.
    """

    def __init__(self, network: nn.Module, outputs: Outputs, *, sees_mask: bool) -> None:
        super().__init__()
        self.network, self.outputs, self.sees_mask = network, outputs, sees_mask

    def forward(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given imputed rows and encoded masks, both (n, ...)."""
        return self.outputs.from_network(self.network(torch.cat([filled, mask.to(filled.dtype)], 1) if self.sees_mask else filled))


class Frozen(nn.Module):
    """Predict from imputed rows with a network that is not trained; gradients pass through it to the mask.

    Args:
        network: Network from raw rows to outputs.
        outputs: Type of the predictions.
        to_raw: Differentiable function from encoded rows to the raw units that the network was trained on.
        probabilities: The network returns probabilities rather than logits.
    """

    def __init__(self, network: nn.Module, outputs: Outputs, *, to_raw: Callable[[Tensor], Tensor], probabilities: bool = False) -> None:
        super().__init__()
        self.network, self.outputs, self.to_raw, self.probabilities = network, outputs, to_raw, probabilities
        self.requires_grad_(False)
        self.eval()

    def train(self, mode: bool = True) -> Frozen:
        """Stay in evaluation mode: dropout and batch statistics would change the model."""
        return super().train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Frozen:
        """Stay frozen."""
        return super().requires_grad_(False)

    def forward(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given imputed rows (n, ...); the mask is not used."""
        output = self.network(self.to_raw(filled))
        return self.outputs.from_probabilities(output) if self.probabilities else self.outputs.from_network(output)


class BlackBox(nn.Module):
    """Predict with a function of raw rows. It has no gradients, and the same rows are queried once.

    Args:
        function: Function from raw rows (an array or a DataFrame) to (n, classes) probabilities or (n,) values.
        outputs: Type of the predictions.
        decode: Function from encoded rows to raw rows.
    """

    differentiable = False

    def __init__(self, function: Callable[[RawRows], object], outputs: Outputs, *, decode: Callable[[Tensor], RawRows]) -> None:
        super().__init__()
        self.model, self.outputs, self.decode = QueriedModel(function), outputs, decode

    def forward(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given imputed rows (n, ...); the mask is not used."""
        output = self.model(self.decode(filled))
        values = torch.as_tensor(np.ascontiguousarray(output), dtype=filled.dtype, device=filled.device).reshape(len(filled), -1)
        as_many_outputs(values.shape[1], self.outputs.count)
        return self.outputs.from_probabilities(values)


def frozen_predictor(model: QueriedModel, target: Target, features: Features) -> nn.Module:
    """The explained model as a predictor that is not trained."""
    function = model.function
    if isinstance(function, NetworkFunction):
        network: nn.Module = copy.deepcopy(function.network).float()  # the type of encoded rows
        if target.outputs.real:
            network = _Standardised(network, target.mean, target.scale)
        return Frozen(network, target.outputs, to_raw=features.as_network_input, probabilities=function.probabilities)
    return BlackBox(partial(_standardised, model, target.mean, target.scale), target.outputs, decode=features.decode)


class _Standardised(nn.Module):
    """A network whose values are in standardised units."""

    def __init__(self, network: nn.Module, mean: float, scale: float) -> None:
        super().__init__()
        self.network, self.mean, self.scale = network, mean, scale

    def forward(self, x: Tensor) -> Tensor:
        values: Tensor = self.network(x)
        return (values - self.mean) / self.scale


def _standardised(model: QueriedModel, mean: float, scale: float, rows: RawRows) -> np.ndarray:
    """The outputs of a model for rows, in standardised units. They are kept by the `BlackBox` that queries it."""
    output: np.ndarray = (model(rows, again=False) - mean) / scale
    return output
