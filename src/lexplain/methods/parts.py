"""The networks a recipe uses when it is given none."""

from __future__ import annotations

import copy
from typing import Any

from torch import nn

from ..masks import Bernoulli
from ..predictors import BlackBox, Frozen, Outputs, Trained, network_for
from ..selectors import Selector, UNet, selector_for
from .sizes import Family

UNET_SPREAD = 2.0  # of the scores of a U-Net: patches share its bias, which else shows or hides all of them before any is chosen


def selector_network(given: nn.Module | None, features: Any, *, context: int = 0, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    """The network given, or one that suits the features."""
    return given if given is not None else selector_for(features, context=context, activation=activation)


def selector_part(
    given: nn.Module | None,
    features: Any,
    family: Family,
    *,
    context: int = 0,
    activation: type[nn.Module] = nn.ReLU,
    spread: float | None = None,
) -> Selector:
    """A selector of the network given, or of one that suits the features."""
    network = selector_network(given, features, context=context, activation=activation)
    if spread is None and isinstance(network, UNet):
        spread = UNET_SPREAD
    return Selector(network, family, spread=spread, level=family.kind is Bernoulli)


def predictor_part(
    given: nn.Module | None, features: Any, outputs: Outputs, *, sees_mask: bool = True, activation: type[nn.Module] = nn.ReLU
) -> nn.Module:
    """The predictor given, a network given as a predictor that trains, or one that suits the shape of the input."""
    if isinstance(given, (Trained, Frozen, BlackBox)):
        return given
    if given is not None:
        return Trained(given, outputs, sees_mask=False)
    network = network_for(features.shape, outputs.count, sees_mask=sees_mask, activation=activation)
    return Trained(network, outputs, sees_mask=sees_mask)


def fresh_copy(predictor: nn.Module) -> nn.Module:
    """The same architecture with new weights; what never trains is its own copy."""
    if not isinstance(predictor, Trained):
        return predictor
    copied = copy.deepcopy(predictor)
    for module in copied.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()
    return copied


def adversary_part(predictor: nn.Module, features: Any, outputs: Outputs) -> nn.Module:
    """A predictor that trains on what is hidden: the architecture of one that trains, else a new one."""
    return fresh_copy(predictor) if isinstance(predictor, Trained) else predictor_part(None, features, outputs)
