"""Parts that a user supplies to a recipe, and the default networks."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal, TypeVar

from torch import nn

from ..core import Outputs
from ..core.contracts import Features, Predictor, Term
from ..core.kinds import kind_of
from ..models import BlackBox, Frozen, QueriedRows, Trained
from ..networks import Selector
from .plans import Plan
from .sizes import MaskFactory

Regime = Literal["free", "fixed", "self", "surrogate"]
AnyPlan = TypeVar("AnyPlan", bound=Plan)


@dataclass(frozen=True)
class Parts:
    """Parts that a user supplies to a recipe. The recipe builds those that are None.

    Args:
        selector: Network that returns scores (b, d).
        predictor: Network or predictor.
        imputer: Replaces hidden values.
        mask_costs: Costs of masks, such as `Continuity`.
        regime: For labels: "free" (predictor and selector are trained together) or "fixed" (predictor first). For a model: "surrogate"
            (the predictor is trained on its outputs) or "self" (the predictor is the model itself).
        model: The explained model as a function of encoded rows, for recipes that query it.
        thorough: Whether the budget is thorough: recipes that support it build larger networks.
    """

    selector: nn.Module | None = None
    predictor: nn.Module | Predictor | None = None
    imputer: nn.Module | None = None
    mask_costs: tuple[Term, ...] = ()
    regime: Regime = "free"
    thorough: bool = False
    model: QueriedRows | None = None

    def apply_regime(self, plan: AnyPlan) -> AnyPlan:
        """Adapt a plan to the regime: with "fixed", a predictor that needs training is trained first and then frozen."""
        train_first = self.regime == "fixed" and not isinstance(self.predictor, (Frozen, BlackBox))
        return plan.with_frozen_predictor() if train_first else plan  # type: ignore[return-value]  # the same class

    def imputer_or(self, default: nn.Module) -> nn.Module:
        """The user's imputer, or a default."""
        return default if self.imputer is None else self.imputer


def selector_part(
    part: nn.Module | None,
    features: Features,
    family: MaskFactory,
    *,
    context: int = 0,
    activation: type[nn.Module] = nn.ReLU,
    spread: float | None = None,
) -> Selector:
    """A selector from a network, or from the default one of the features. It reads the model's output if `context` is not 0."""
    network = part if part is not None else kind_of(features).selector(features, context=context, activation=activation)
    if spread is None:
        spread = getattr(network, "default_spread", None)  # a U-Net has one
    return Selector(network, family, spread=spread, level=not family.fixed_size, reads_output=context > 0)


def predictor_part(
    part: nn.Module | Predictor | None,
    features: Features,
    outputs: Outputs,
    *,
    sees_mask: bool = True,
    activation: type[nn.Module] = nn.ReLU,
) -> Predictor:
    """The user's predictor, the user's network as a trained predictor, or the default one of the features."""
    if isinstance(part, (Trained, Frozen, BlackBox)):
        return part
    if part is not None:
        assert isinstance(part, nn.Module)
        return Trained(part, outputs, sees_mask=False)
    network = kind_of(features).predictor(features, outputs.count, sees_mask=sees_mask, activation=activation)
    return Trained(network, outputs, sees_mask=sees_mask)


def reinitialised_copy(predictor: Predictor) -> Predictor:
    """The same architecture with new weights; a predictor that is never trained is returned unchanged."""
    if not isinstance(predictor, Trained):
        return predictor
    copied = copy.deepcopy(predictor)
    for module in copied.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()
    return copied


def adversary_part(predictor: Predictor, features: Features, outputs: Outputs) -> Predictor:
    """A predictor to train on hidden features: a copy with new weights if `predictor` is trained, otherwise the default one."""
    return reinitialised_copy(predictor) if isinstance(predictor, Trained) else predictor_part(None, features, outputs)
