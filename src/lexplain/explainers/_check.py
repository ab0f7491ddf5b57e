"""What an Explainer refuses of the methods that it is given."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..methods import Method, Regime


def no_method(given: Any) -> TypeError:
    """Why something is no method."""
    way = "; put @lexplain.methods.recipe(...) above the function to make it a Recipe" if callable(given) else ""
    return TypeError(f"method is a {type(given).__name__}, but the name of a method, a Recipe or a Method is needed{way}")


def regime_of_method(asked: str | None, found: Regime, method: Method) -> Regime:
    """The regime that a Method built from parts has, by whether its predictor learns; refuse another that was asked for.

    Args:
        asked: what the user asked for; None: whatever the Method has.
        found: a regime that explains what was given, labels or a model.
        method: the Method.
    """
    learns, beside = predictor_learns(method)
    own: Regime = ("free" if beside else "fixed") if found in ("free", "fixed") else ("surrogate" if learns else "self")
    if asked is not None and asked != own:
        does = "learns beside the selector" if beside else "learns first and then rests" if learns else "never learns"
        raise ValueError(
            f"regime={asked!r}, but the predictor of the Method given {does}, which is regime={own!r}; leave regime out, or build the "
            f"Method with Parts(regime={asked!r}) and a predictor that fits"
        )
    return own


def predictor_learns(method: Method) -> tuple[bool, bool]:
    """Whether a method's predictor learns at all, and whether it still does once the selector has begun to."""
    predictor, selector = _weights(method.predictor), _weights(method.selector)
    learns = beside = begun = False
    for phase in method.phases():
        moved = set().union(*(_weights(step.module) for step in phase.steps))
        begun = begun or bool(moved & selector)
        learns = learns or bool(moved & predictor)
        beside = beside or (begun and bool(moved & predictor))
    return learns, beside


def _weights(part: object) -> set[int]:
    return {id(weight) for weight in part.parameters()} if isinstance(part, nn.Module) else set()
