"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor, nn

from .. import check
from ..imputers import IMPUTERS
from ..methods import Method, Regime
from ..predictors.labels import target_values


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


def tolerances(keep: Any, nats: Any, points: Any, can_choose: bool) -> None:
    """Refuse keep="auto" of a method that has no path, and tolerances that say nothing or contradict each other."""
    if keep == "auto" and not can_choose:
        raise ValueError(
            "keep='auto' needs method 'gains', which prices every feature and is the default for tables, not for images; "
            "give keep a number or a rate"
        )
    if keep != "auto" and (nats is not None or points is not None):
        raise ValueError("a tolerance was given, but only keep='auto' of the default method heeds it; leave keep and penalty out")
    if nats is not None and points is not None:
        raise ValueError(f"both tolerance={nats} (nats) and tolerance_points={points} were given; give one of them")
    check.positive(tolerance=nats, tolerance_points=points)


def require_held_out_rows(evidence: Any) -> None:
    """Refuse the card of an explainer whose rows are gone."""
    if evidence is None:
        raise ValueError("this explainer came from a file or a copy, which hold no rows to judge it by; use lx.audit with rows of yours")


def background_fits(asked: int, rows: Tensor | None, imputer: type) -> None:
    """Refuse a number of background rows that is none, and an imputer of the user's own, of which nobody knows where its rows are."""
    if not isinstance(asked, (int, np.integer)) or asked < 0:
        raise ValueError(
            f"background={asked!r}, but a whole number of rows is needed, 0 or more; leave it out to keep those that there are"
        )
    if rows is not None and imputer not in IMPUTERS.values():
        raise ValueError(
            f"background={asked}, but the imputer {imputer.__name__} is your own, and only it knows how to do with fewer rows; leave "
            "background out, or choose one of lexplain.imputers"
        )


def no_target(target: Any, method: str) -> None:
    """Refuse a class to explain: a selection is one of the prediction as a whole."""
    if target is not None:
        given = repr(target) if np.ndim(target) == 0 else "(one class a row)"
        raise ValueError(
            f"target={given}, but {method} explains the prediction as a whole, whichever class that is: the same features would be kept "
            "for every target; leave target out, or take a baseline that scores one class, such as lexplain.baselines.KernelSHAP"
        )


def points_fit(points: float | None, real: bool) -> None:
    """Refuse a tolerance of accuracy where there is none."""
    if points is not None and real:
        raise ValueError("a real-valued target has no accuracy; give tolerance in nats instead of tolerance_points")


def require_path(path: pd.DataFrame | None) -> pd.DataFrame:
    """Refuse to draw a path that was not walked."""
    if path is None:
        raise ValueError("this fit has no path of prices, which only keep='auto' of the default method walks; leave keep and penalty out")
    return path


def networks_given(**networks: Any) -> None:
    """Refuse what is no network."""
    for name, network in networks.items():
        if network is not None and not callable(network):
            raise TypeError(f"{name}={network!r} is no network; give an nn.Module, or leave it out for one that suits the rows")


def imputer_given(imputer: Any) -> None:
    """Refuse what is no imputer, or a class whose fit needs an object first."""
    if not callable(imputer):
        raise TypeError(f"imputer={imputer!r} is no imputer; give one, its class, its name, or a number to put everywhere")
    fit = getattr(imputer, "fit", None)
    if inspect.isclass(imputer) and fit is not None and not inspect.ismethod(fit):
        raise TypeError(f"{imputer.__name__}.fit needs an object; make it a class method that returns a fitted one, or pass a fitted one")


def regime_fits(regime: str | None, y: Any, model: Any, reads_output: bool) -> str:
    """Choose the regime from what was given, or refuse one that lacks what it needs."""
    if regime is None:
        if y is not None and model is not None:
            raise ValueError(
                "both y and model were given; give y to learn from labels, model to explain it, "
                "or regime='fixed' to explain labels by a fixed model"
            )
        regime = "free" if model is None else "surrogate"
    check.one_of(regime, ["free", "fixed", "self", "surrogate"], "regime")
    if regime in ("free", "fixed") and y is None:
        target_values(y)
    if regime in ("self", "surrogate") and model is None:
        raise ValueError(f"regime={regime!r} explains a model, but none was given; pass fit(X, model=...)")
    if regime == "free" and model is not None:
        raise ValueError("regime='free' learns a model of its own, but a model was given; use regime='fixed', 'self' or 'surrogate'")
    if reads_output and model is None:
        raise ValueError("this method shows the selector the model's output, so it needs a model; pass fit(X, model=...)")
    return regime


def parts_given_once(explainer: Any) -> None:
    """Refuse parts beside a Method that already has them."""
    parts = ("keep", "penalty", "features", "selector", "predictor", "imputer", "continuity", "options")
    given = [name for name in parts if getattr(explainer, name) not in (None, {})]
    if given:
        raise ValueError(f"a Method built from parts was given together with {given}; put these into the Method")


def method_options(options: Any, recipe: Any, parameters: Collection[str], *, learns: bool) -> None:
    """Refuse settings that a method has not, that have a parameter of their own, or that would be ignored."""
    if options is None:
        return
    if not isinstance(options, dict):
        raise ValueError(f"options={options!r}, but a dictionary of settings of the method is needed")
    known = list(recipe.options)
    odd = sorted(str(name) for name in options if name not in known)
    if odd:
        told = f"it has: {', '.join(known)}" if known else "it has none"
        own = [name for name in odd if name in parameters]
        way = f"; of Explainer itself: {', '.join(own)}" if own else ""
        raise ValueError(f"no options of method {recipe.name!r}: {', '.join(odd)}; {told}{way}")
    idle = [name for name in recipe.joint_options if name in options]
    if idle and not learns:
        raise ValueError(f"options {', '.join(idle)} say how a predictor learns beside the selector, but here it does not; leave them out")


def outputs_fit(said: Any, wanted: Any, who: str) -> None:
    """Refuse a predictor or a model whose output is not of the target's kind."""
    if said is not None and said != wanted:
        told, needed = (f"{o.count} classes" if not o.real else "one real value" for o in (said, wanted))
        raise ValueError(f"{who} says {told} a row, but the target is {needed}; give one that fits the target")


def require_model(model: Any) -> None:
    """Refuse to go on without the model that is explained."""
    if model is None:
        raise ValueError("the explained model is needed here and is not stored in the file; load with Explainer.load(path, model=...)")


def continuity_fits(price: Any, method: Any, prices_masks: bool) -> None:
    """Refuse a price of ragged masks that is not above 0, or where masks are not drawn while training."""
    check.positive(continuity=price)
    if not prices_masks:
        raise ValueError(
            f"continuity={price} prices masks while they are learned, but method {method!r} regresses gains of single features; "
            "choose another method, such as 'sufficient' or 'realx'"
        )
