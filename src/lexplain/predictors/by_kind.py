"""Which network predicts from which kind of features. A kind of your own joins with a line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import nn

from .. import check
from ..core.contracts import Features
from .cnn import cnn
from .ensemble import Ensemble
from .mlp import mlp


class MakeNetwork(Protocol):
    """Make a network of encoded rows (n, *shape), with a raw mask beside them along axis 1 if it sees it, to outputs (n, count)."""

    def __call__(self, features: Features, count: int, *, sees_mask: bool, activation: type[nn.Module]) -> nn.Module:
        """The network, with fresh weights."""


class MakeEnsemble(Protocol):
    """Make a network of several members that answer as one, and of which each learns from rows of its own."""

    def __call__(self, features: Features, count: int, *, members: int) -> nn.Module:
        """The network, with fresh weights."""


@dataclass(frozen=True)
class PredictorNetworks:
    """The networks of a kind."""

    one: MakeNetwork
    several: MakeEnsemble | None = None  # None: methods that want an ensemble take one network


def _dense(features: Features, count: int, *, sees_mask: bool, activation: type[nn.Module]) -> nn.Module:
    return mlp(features.shape, count, sees_mask=sees_mask, activation=activation)


def _convolutions(features: Features, count: int, *, sees_mask: bool, activation: type[nn.Module]) -> nn.Module:
    return cnn(features.shape, count, sees_mask=sees_mask, activation=activation)


def _ensemble(features: Features, count: int, *, members: int) -> nn.Module:
    return Ensemble(features.shape, count, members=members)


NETWORKS: dict[str, PredictorNetworks] = {
    "columns": PredictorNetworks(_dense, _ensemble),
    "patches": PredictorNetworks(_convolutions, _ensemble),
}


def network_for(features: Features, count: int, *, sees_mask: bool, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    """The predictor network that suits a kind of features."""
    return _networks(features).one(features, count, sees_mask=sees_mask, activation=activation)


def ensemble_for(features: Features, count: int, *, members: int) -> nn.Module:
    """Several networks that answer as one; a single one where the kind has no ensemble."""
    several = _networks(features).several
    return network_for(features, count, sees_mask=False) if several is None else several(features, count, members=members)


def _networks(features: Features) -> PredictorNetworks:
    return check.for_kind(NETWORKS, features.kind, "predictor network", "lexplain.predictors.by_kind.NETWORKS")
