"""Tables: the columns, or groups of them, are the features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn

from ..core.contracts import Features, Model, RawRows
from ..core.kinds import Kind

if TYPE_CHECKING:
    from ..features import Columns
    from ..methods import Recipe
    from ..models import Target


def _suits(X: RawRows) -> bool:  # noqa: ARG001  the last kind accepts any rows
    return True


def _features() -> Features:
    from ..features import Columns

    return Columns()


def _restore(state: Mapping[str, Any]) -> Features:
    from ..features.groups import restore_table

    return restore_table(state)


def dense_selector(features: Features, *, context: int, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    """Dense layers that return one score per feature."""
    from ..networks import MLP

    return MLP(features.shape, features.count, context=context, activation=activation)


def _predictor(features: Features, count: int, *, sees_mask: bool, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    from ..networks import mlp

    return mlp(features.shape, count, sees_mask=sees_mask, activation=activation)


def ensemble(features: Features, count: int, *, members: int) -> nn.Module:
    """Several dense networks with averaged outputs."""
    from ..networks import Ensemble

    return Ensemble(features.shape, count, members=members)


def _regressor(features: Features, *, context: int, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    from ..networks import MLP

    return _encoded(features, lambda shape: MLP(shape, features.count, context=context, activation=activation))


def _ensemble(features: Features, count: int, *, members: int) -> nn.Module:
    from ..networks import Ensemble

    return _encoded(features, lambda shape: Ensemble(shape, count, members=members))


def _encoded(features: Features, network: Callable[[tuple[int, ...]], nn.Module]) -> nn.Module:
    """A network of this input shape, behind the piecewise-linear encoding if the features have bins."""
    from ..networks import PiecewiseLinear

    bins = cast("Columns", features).bins
    if bins is None or len(bins) == 0:
        return network(features.shape)
    return PiecewiseLinear(network((features.shape[0] + len(bins),)), bins)


def marginal() -> type[nn.Module]:
    """The class of the imputer that takes values from another row."""
    from ..imputers import Marginal

    return Marginal


def _method() -> Recipe:
    from ..methods import gains

    return gains


def _as_model(encoded: nn.Module, features: Features, target: Target) -> Model:
    """Convert the network to raw units: scaling is linear, so the first and the last layer absorb it.

    If there are categorical columns, which networks cannot read, the model is a function of rows.
    """
    from ..models import EncodedModel

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


def _text_columns(features: Features) -> tuple[str, ...]:
    return cast("Columns", features).text


COLUMNS = Kind(
    "columns",
    suits=_suits,
    features=_features,
    restore=_restore,
    selector=dense_selector,
    predictor=_predictor,
    ensemble=_ensemble,
    regressor=_regressor,
    imputer=marginal,
    method=_method,
    flat=True,
    as_model=_as_model,
    text_columns=_text_columns,
)
