"""Settings of an Explainer: its recipe, its regime, and how much it keeps. Settings that contradict each other raise an error."""

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
from ..models import QueriedModel
from ..models.target import target_array

if TYPE_CHECKING:
    from .explainer import Explainer


# ---- recipe ----


def resolve_recipe(method: str | Recipe | Method, features: Features) -> Recipe | Method:
    """The recipe of this name for these features. A recipe or a Method is returned unchanged."""
    if isinstance(method, (Recipe, Method)):
        return method
    if not isinstance(method, str):
        hint = " Decorate a function with @lexplain.methods.recipe(...) to make it a Recipe." if callable(method) else ""
        raise TypeError(f"method must be a name, a Recipe or a Method, got {type(method).__name__}.{hint}")
    if method == "default":
        return cast("Recipe", kind_of(features).method())
    return METHODS[check.one_of(method, [*METHODS, "default"], "method")]


def recipe_arguments(explainer: Explainer, recipe: Recipe) -> dict[str, Any]:
    """The arguments of a recipe: how much to keep, and its options."""
    keep = None if requested_keep(explainer, recipe) == "auto" else explainer.keep
    return {"keep": keep, "penalty": explainer.penalty, **(explainer.options or {})}


def needs_of(explainer: Explainer, features: Features) -> tuple[str, ...]:
    """What `fit` needs for these features: ("y",) labels, ("model",) a model, or ("y", "model") one of the two."""
    if explainer.regime in ("self", "surrogate") or resolve_recipe(explainer.method, features).reads_output:
        return ("model",)
    return ("y", "model") if explainer.regime is None else ("y",)


def prepared(explainer: Explainer, *, seed: int, features: Features, keep: int | None, size: Callable[[], int]) -> Explainer:
    """An unfitted copy for `compare`, with this seed, and with these features and this keep if the explainer does not set its own."""
    own: Explainer = clone(explainer).set_params(random_state=seed)
    recipe = resolve_recipe(own.method, features)
    if isinstance(recipe, Recipe):  # a Method has its own features and size
        own.features = features if own.features is None else own.features
        if own.keep is None and own.penalty is None and (keep is not None or recipe.sized_by == "k"):
            own.keep = size() if keep is None else keep
    return own


def check_no_target(target: Labels, name: str) -> None:
    """Raise if one class is to be explained."""
    if target is not None:
        text = repr(target) if np.ndim(target) == 0 else "one class per row"
        raise ValueError(
            f"{name} explains the prediction as a whole and takes no target (got {text}). "
            "To explain one class, use a baseline such as lexplain.baselines.KernelSHAP."
        )


def check_options(explainer: Explainer, recipe: Recipe, *, learns: bool) -> None:
    """Raise for options that the method does not have, that are arguments of Explainer, or that would be ignored."""
    options, known = explainer.options, list(recipe.options)
    if options is None:
        return
    if not isinstance(options, dict):
        raise ValueError(f"options must be a dictionary from names of options of the method to values, got {options!r}.")
    unknown = sorted(str(name) for name in options if name not in known)
    if unknown:
        available = f"Available: {', '.join(known)}" if known else "Available: none"
        own = [name for name in unknown if name in explainer.get_params(deep=False)]
        hint = f" These are arguments of Explainer: {', '.join(own)}." if own else ""
        raise ValueError(f"Unknown options for method {recipe.name!r}: {', '.join(unknown)}. {available}.{hint}")
    idle = [name for name in recipe.joint_training_options if name in options]
    if idle and not learns:
        raise ValueError(
            f"Options {', '.join(idle)} only apply when a predictor is trained with the selector, but here it is not. Leave them out."
        )


# ---- regime ----


def chosen_regime(requested: str | None, recipe: Recipe | Method, y: Labels, model: Model) -> Regime:
    """The requested regime, or the default for labels or a model. Raise if it lacks what it needs or does not fit a Method."""
    regime = requested
    if regime is None:
        if y is not None and model is not None:
            raise ValueError(
                "Pass y to learn from labels or model= to explain a model. For labels with a frozen model, pass both and regime='fixed'."
            )
        regime = "free" if model is None else "surrogate"
    check.one_of(regime, ["free", "fixed", "self", "surrogate"], "regime")
    if regime in ("free", "fixed") and y is None:
        target_array(y)
    if regime in ("self", "surrogate") and model is None:
        raise ValueError(f"regime={regime!r} explains a model, but no model was passed. Pass fit(X, model=...).")
    if regime == "free" and model is not None:
        raise ValueError("regime='free' trains its own predictor and takes no model. Use regime='fixed', 'self' or 'surrogate'.")
    if recipe.reads_output and model is None:
        raise ValueError("The selector of this method reads the model's output, so a model is needed. Pass fit(X, model=...).")
    return _regime_of(recipe, requested, regime) if isinstance(recipe, Method) else cast("Regime", regime)


def _regime_of(method: Method, requested: str | None, regime: str) -> Regime:
    """The regime of a Method built from parts, which depends on how its predictor is trained. Raise if another was requested."""
    learns, together = predictor_learns(method)
    own: Regime = ("free" if together else "fixed") if regime in ("free", "fixed") else ("surrogate" if learns else "self")
    if requested is not None and requested != own:
        does = "is trained together with the selector" if together else "is trained first and then frozen" if learns else "is never trained"
        raise ValueError(
            f"regime={requested!r} does not fit this Method: its predictor {does}, which is regime={own!r}. "
            f"Leave regime out, or build the Method with Parts(regime={requested!r}) and a suitable predictor."
        )
    return own


def predictor_learns(method: Method) -> tuple[bool, bool]:
    """Whether the predictor of a method is trained, and whether it is trained together with the selector."""
    predictor, selector = _weights(method.predictor), _weights(method.selector)
    learns = together = begun = False
    for phase in method.phases():
        trained = set().union(*(_weights(step.module) for step in phase.steps))
        begun = begun or bool(trained & selector)
        learns = learns or bool(trained & predictor)
        together = together or (begun and bool(trained & predictor))
    return learns, together


def _weights(part: object) -> set[int]:
    return {id(weight) for weight in part.parameters()} if isinstance(part, nn.Module) else set()


def required_model(model: QueriedModel | None) -> QueriedModel:
    """The explained model. Raise if it is missing."""
    if model is None:
        raise ValueError("The explained model is needed and is not stored in the file. Use Explainer.load(path, model=...).")
    return model


def context_of(explainer: Explainer, X: RawRows, x: Tensor) -> Tensor:
    """The model's outputs (n, c), as the selector reads them, for rows X with encoding x."""
    model = required_model(explainer.model_function_)
    values = torch.as_tensor(model(explainer.features_.as_model_input(X, x)), dtype=torch.float32, device=x.device).reshape(len(x), -1)
    return (values - explainer.target_mean_) / explainer.target_scale_ if explainer.outputs_.real else values


# ---- size and tolerance ----


def requested_keep(explainer: Explainer, recipe: Recipe | Method) -> float | str | None:
    """How much to keep: the value of `keep`, or "auto" if neither it nor penalty is set and the method can choose."""
    can_choose = recipe.has_path if isinstance(recipe, Recipe) else recipe.plan.chooses_price
    return "auto" if can_choose and explainer.keep is None and explainer.penalty is None else plain(explainer.keep)


def check_settings(explainer: Explainer, recipe: Recipe | Method, count: int, rows: int) -> None:
    """Raise for settings that contradict each other or do not fit this number of features and rows."""
    check.enough_features(count)
    keep = requested_keep(explainer, recipe)
    check.keep_or_penalty(keep, explainer.penalty, count)
    nats, points = explainer.tolerance, explainer.tolerance_points
    if keep == "auto" and not (recipe.has_path if isinstance(recipe, Recipe) else recipe.plan.measures_gains):
        raise ValueError("keep='auto' is only available for the method 'gains' (the default for tables). Pass a number or a rate.")
    if keep != "auto" and (nats is not None or points is not None):
        raise ValueError("tolerance only works with the default method and keep='auto'. Leave keep and penalty out.")
    if nats is not None and points is not None:
        raise ValueError(f"Pass either tolerance={nats} (in nats) or tolerance_points={points}, not both.")
    check.positive(tolerance=nats, tolerance_points=points)
    check.one_of(explainer.budget, ["default", "thorough"], "budget")
    resolve_imputer(explainer.imputer)
    for name, network in (("selector", explainer.selector), ("predictor", explainer.predictor)):
        if network is not None and not callable(network):
            raise TypeError(f"{name} must be an nn.Module, got {network!r}. Leave it out for a default network.")
    check.enough_rows(rows)
    check.counts(epochs=explainer.epochs, batch_size=explainer.batch_size, max_rows=explainer.max_rows)
    check.positive(learning_rate=explainer.learning_rate)
