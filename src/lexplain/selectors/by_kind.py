"""Which network scores which kind of features. A kind of your own joins with a line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import nn

from .. import check
from ..core.contracts import Features
from ..features import patches_of
from .mlp import MLP
from .unet import UNet


class MakeNetwork(Protocol):
    """Make a network of encoded rows (n, *shape), and of the model's output (n, context) where there is one, to scores (n, d)."""

    def __call__(self, features: Features, *, context: int, activation: type[nn.Module]) -> nn.Module:
        """The network, with fresh weights."""


@dataclass(frozen=True)
class SelectorNetworks:
    """The networks of a kind."""

    choose: MakeNetwork  # scores that choose features against each other
    regress: MakeNetwork | None = None  # scores that regress what each feature is worth; None: as for choosing


def _dense(features: Features, *, context: int, activation: type[nn.Module]) -> nn.Module:
    return MLP(features.shape, features.count, context=context, activation=activation)


def _unet(features: Features, *, context: int, activation: type[nn.Module]) -> nn.Module:  # noqa: ARG001  a U-Net has its own
    patches = patches_of(features)
    return UNet(patches.shape, patches.grid, layers=patches.layers, context=context)


NETWORKS: dict[str, SelectorNetworks] = {
    "columns": SelectorNetworks(_dense),
    "patches": SelectorNetworks(_unet, regress=_dense),
}


def selector_for(features: Features, *, context: int = 0, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    """The selector network that suits a kind of features."""
    return _networks(features).choose(features, context=context, activation=activation)


def regressor_for(features: Features, *, activation: type[nn.Module] = nn.SiLU) -> nn.Module:
    """The network that suits regressing what each feature of a kind is worth."""
    networks = _networks(features)
    return (networks.regress or networks.choose)(features, context=0, activation=activation)


def _networks(features: Features) -> SelectorNetworks:
    return check.for_kind(NETWORKS, features.kind, "selector network", "lexplain.selectors.by_kind.NETWORKS")
