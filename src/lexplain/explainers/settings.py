"""What an Explainer was asked for: its recipe, its regime, and how much it keeps; settings that contradict each other are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor, nn

from .. import check
from ..core.contracts import Features, Labels, Model, RawRows
from ..core.kinds import kind_of
from ..core.rows import plain
from ..imputers.given import resolve_imputer
from ..methods import METHODS, Method, Recipe, Regime
from ..models import CachedModel
from ..models.target import target_array

if TYPE_CHECKING:
    from .explainer import Explainer


# ---- recipe ----


def resolve_recipe(method: str | Recipe | Method, features: Features) -> Recipe | Method:
    """The recipe that a name means for some features; a recipe or a Method as it is."""
    if isinstance(method, (Recipe, Method)):
        return method
    if not isinstance(method, str):
        way = "; put @lexplain.methods.recipe(...) above the function to make it a Recipe" if callable(method) else ""
        raise TypeError(f"method is a {type(method).__name__}, but the name of a method, a Recipe or a Method is needed{way}")
    if method == "default":
        return cast("Recipe", kind_of(features).method())
    return METHODS[check.one_of(method, [*METHODS, "default"], "method")]


def recipe_arguments(explainer: Explainer, recipe: Recipe) -> dict[str, Any]:
    """The arguments of a recipe: how much to keep, and its own options."""
    keep = None if requested_keep(explainer, recipe) == "auto" else explainer.keep
    return {"keep": keep, "penalty": explainer.penalty, **(explainer.options or {})}


def needs_of(explainer: Explainer, features: Features) -> tuple[str, ...]:
    """What the fit of an explainer needs one of: labels "y", a "model"."""
    if explainer.regime in ("self", "surrogate") or resolve_recipe(explainer.method, features).reads_output:
        return ("model",)
    return ("y", "model") if explainer.regime is None else ("y",)


def prepared(explainer: Explainer, *, seed: int, features: Features, keep: int | None, size: Callable[[], int]) -> Explainer:
    """An unfitted copy for a comparison, with what the explainer leaves open; see `ExplainerFace`."""
    own: Explainer = clone(explainer).set_params(random_state=seed)
    recipe = resolve_recipe(own.method, features)
    if isinstance(recipe, Recipe):  # a Method has features and a size of its own
        own.features = features if own.features is None else own.features
        if own.keep is None and own.penalty is None and (keep is not None or recipe.sized_by == "k"):
            own.keep = size() if keep is None else keep
    return own


def refuse_target(target: Labels, name: str) -> None:
    """Refuse to explain one class."""
    if target is not None:
        text = repr(target) if np.ndim(target) == 0 else "(one class a row)"
        raise ValueError(
            f"target={text}, but {name} explains the prediction as a whole, whichever class that is: the same features would be "
            "kept for every target; leave target out, or take a baseline that scores one class, such as lexplain.baselines.KernelSHAP"
        )


def refuse_options(explainer: Explainer, recipe: Recipe, *, learns: bool) -> None:
    """Refuse settings that a method has not, that have a parameter of their own, or that would be ignored."""
    options, known = explainer.options, list(recipe.options)
    if options is None:
        return
    if not isinstance(options, dict):
        raise ValueError(f"options={options!r}, but a dictionary of settings of the method is needed")
    odd = sorted(str(name) for name in options if name not in known)
    if odd:
        told = f"it has: {', '.join(known)}" if known else "it has none"
        own = [name for name in odd if name in explainer.get_params(deep=False)]
        way = f"; of Explainer itself: {', '.join(own)}" if own else ""
        raise ValueError(f"no options of method {recipe.name!r}: {', '.join(odd)}; {told}{way}")
    idle = [name for name in recipe.joint_training_options if name in options]
    if idle and not learns:
        raise ValueError(f"options {', '.join(idle)} say how a predictor learns beside the selector, but here it does not; leave them out")


# ---- regime ----


def chosen_regime(asked: str | None, recipe: Recipe | Method, y: Labels, model: Model) -> Regime:
    """The regime that was asked for or that suits what was given; refuse one that lacks what it needs, or that a Method has not."""
    regime = asked
    if regime is None:
        if y is not None and model is not None:
            raise ValueError(
                "both y and model were given; give y to learn from labels, model to explain it, "
                "or regime='fixed' to explain labels by a fixed model"
            )
        regime = "free" if model is None else "surrogate"
    check.one_of(regime, ["free", "fixed", "self", "surrogate"], "regime")
    if regime in ("free", "fixed") and y is None:
        target_array(y)
    if regime in ("self", "surrogate") and model is None:
        raise ValueError(f"regime={regime!r} explains a model, but none was given; pass fit(X, model=...)")
    if regime == "free" and model is not None:
        raise ValueError("regime='free' learns a model of its own, but a model was given; use regime='fixed', 'self' or 'surrogate'")
    if recipe.reads_output and model is None:
        raise ValueError("this method shows the selector the model's output, so it needs a model; pass fit(X, model=...)")
    return _regime_of(recipe, asked, regime) if isinstance(recipe, Method) else cast("Regime", regime)


def _regime_of(method: Method, asked: str | None, found: str) -> Regime:
    """The regime that a Method built from parts has, by whether its predictor learns; refuse another that was asked for."""
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


def required_model(model: CachedModel | None) -> CachedModel:
    """The model that is explained; refuse to go on without it."""
    if model is None:
        raise ValueError("the explained model is needed here and is not stored in the file; load with Explainer.load(path, model=...)")
    return model


def context_of(explainer: Explainer, X: RawRows, x: Tensor) -> Tensor:
    """The model's output (n, c) as the selector sees it, on rows X with encoding x."""
    model = required_model(explainer.model_function_)
    values = torch.as_tensor(model(explainer.features_.as_model_input(X, x)), dtype=torch.float32, device=x.device).reshape(len(x), -1)
    return (values - explainer.target_mean_) / explainer.target_scale_ if explainer.outputs_.real else values


# ---- size and tolerance ----


def requested_keep(explainer: Explainer, recipe: Recipe | Method) -> float | str | None:
    """How much to keep: what was asked for, or "auto" where nobody said and the method can choose."""
    can_choose = recipe.has_path if isinstance(recipe, Recipe) else recipe.plan.chooses_price
    return "auto" if can_choose and explainer.keep is None and explainer.penalty is None else plain(explainer.keep)


def refuse_settings(explainer: Explainer, recipe: Recipe | Method, count: int, rows: int) -> None:
    """Refuse settings that contradict each other or do not fit so many features and rows."""
    check.enough_features(count)
    keep = requested_keep(explainer, recipe)
    check.keep_or_penalty(keep, explainer.penalty, count)
    nats, points = explainer.tolerance, explainer.tolerance_points
    if keep == "auto" and not (recipe.has_path if isinstance(recipe, Recipe) else recipe.plan.measures_gains):
        raise ValueError(
            "keep='auto' needs method 'gains', which prices every feature and is the default for tables, not for images; "
            "give keep a number or a rate"
        )
    if keep != "auto" and (nats is not None or points is not None):
        raise ValueError("a tolerance was given, but only keep='auto' of the default method heeds it; leave keep and penalty out")
    if nats is not None and points is not None:
        raise ValueError(f"both tolerance={nats} (nats) and tolerance_points={points} were given; give one of them")
    check.positive(tolerance=nats, tolerance_points=points)
    check.one_of(explainer.budget, ["default", "thorough"], "budget")
    resolve_imputer(explainer.imputer)
    for name, network in (("selector", explainer.selector), ("predictor", explainer.predictor)):
        if network is not None and not callable(network):
            raise TypeError(f"{name}={network!r} is no network; give an nn.Module, or leave it out for one that suits the rows")
    check.enough_rows(rows)
    check.counts(epochs=explainer.epochs, batch_size=explainer.batch_size, max_rows=explainer.max_rows)
    check.positive(learning_rate=explainer.learning_rate)
