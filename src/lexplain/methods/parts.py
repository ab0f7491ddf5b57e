"""What a user brings to a recipe, and the networks a recipe uses when it is given none."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal, TypeVar

from torch import nn

from ..core import Outputs
from ..core.contracts import Features, Predictor, Term
from ..core.kinds import kind_of
from ..models import BlackBox, Frozen, Trained
from ..networks import Selector
from .plans import Plan
from .sizes import MaskFactory

Regime = Literal["free", "fixed", "self", "surrogate"]
AnyPlan = TypeVar("AnyPlan", bound=Plan)


@dataclass(frozen=True)
class Parts:
    """What a user brings to a recipe; what is None the recipe makes itself.

    Args:
        selector: a network of scores (b, d).
        predictor: a network, or a predictor.
        imputer: fills what is hidden.
        mask_costs: prices of masks, such as `Continuity`.
        regime: "free" or "fixed" (explain labels, with a trained or a frozen predictor), "self" or "surrogate" (explain a model, with
            itself or with a trained predictor).
        thorough: The budget is thorough: a recipe that scales itself grows.
    """

    selector: nn.Module | None = None
    predictor: nn.Module | Predictor | None = None
    imputer: nn.Module | None = None
    mask_costs: tuple[Term, ...] = ()
    regime: Regime = "free"
    thorough: bool = False

    def apply_regime(self, plan: AnyPlan) -> AnyPlan:
        """A plan as the regime has it: a fixed predictor that is still to be learned learns first and then rests."""
        learns_first = self.regime == "fixed" and not isinstance(self.predictor, (Frozen, BlackBox))
        return plan.with_frozen_predictor() if learns_first else plan  # type: ignore[return-value]  # of its own class

    def imputer_or(self, default: nn.Module) -> nn.Module:
        """The imputer given, or a default."""
        return default if self.imputer is None else self.imputer


def selector_part(
    given: nn.Module | None,
    features: Features,
    family: MaskFactory,
    *,
    context: int = 0,
    activation: type[nn.Module] = nn.ReLU,
    spread: float | None = None,
) -> Selector:
    """A selector of the network given, or of one that suits the features; it reads the model's output where it has a context of some."""
    network = given if given is not None else kind_of(features).selector(features, context=context, activation=activation)
    if spread is None:
        spread = getattr(network, "default_spread", None)  # of a U-Net
    return Selector(network, family, spread=spread, level=not family.fixed_size, reads_output=context > 0)


def predictor_part(
    given: nn.Module | Predictor | None,
    features: Features,
    outputs: Outputs,
    *,
    sees_mask: bool = True,
    activation: type[nn.Module] = nn.ReLU,
) -> Predictor:
    """The predictor given, a network given as a predictor that trains, or one that suits the features."""
    if isinstance(given, (Trained, Frozen, BlackBox)):
        return given
    if given is not None:
        assert isinstance(given, nn.Module)
        return Trained(given, outputs, sees_mask=False)
    network = kind_of(features).predictor(features, outputs.count, sees_mask=sees_mask, activation=activation)
    return Trained(network, outputs, sees_mask=sees_mask)


def reinitialised_copy(predictor: Predictor) -> Predictor:
    """The same architecture with new weights; what never trains is its own copy."""
    if not isinstance(predictor, Trained):
        return predictor
    copied = copy.deepcopy(predictor)
    for module in copied.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()
    return copied


def adversary_part(predictor: Predictor, features: Features, outputs: Outputs) -> Predictor:
    """A predictor that trains on what is hidden: the architecture of one that trains, else a new one."""
    return reinitialised_copy(predictor) if isinstance(predictor, Trained) else predictor_part(None, features, outputs)
