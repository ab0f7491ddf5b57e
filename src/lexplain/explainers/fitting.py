"""One fit of an Explainer, from its settings to trained parts."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import torch
from sklearn.utils import check_random_state
from torch import Tensor, nn

from .. import check
from ..core import Trial, joined, seeded
from ..core.contracts import Features, Json, Labels, Model, RandomState, RawRows
from ..core.kinds import features_for, kind_of
from ..imputers import IMPUTERS, with_fewer_rows
from ..methods import METHODS, Method, Parts, Recipe, Regime
from ..objectives import Continuity
from ..predictors import Problem, Target, frozen_predictor, targets_of
from ..predictors.labels import network_reads, same_length, target_values
from ..training import Checkpoint, Settings, fabric_of, fit
from . import _check
from ._check import no_method, regime_of_method
from .findings import Splits
from .imputing import fitted_imputer, known_imputer
from .path import choose_price

if TYPE_CHECKING:
    from .explainer import Explainer

STEPS = 3000  # optimiser steps of a default fit
THOROUGH = 2  # times as many of a thorough one, for methods that do not grow by themselves
BUDGETS = ("default", "thorough")
CALIBRATION_ROWS = 20_000  # rows that a rate is met on; a tenth of a small table would miss it by more than training's own bias


@dataclass(frozen=True)
class Fitted:
    """What a fit learned."""

    method: Method
    problem: Problem
    target: Target
    regime: Regime
    splits: Splits
    path: pd.DataFrame | None
    history: pd.DataFrame


def chosen_recipe(method: str | Recipe | Method, features: Features) -> Recipe | Method:
    """The recipe that a name means for some features; a recipe or a Method as it is."""
    if isinstance(method, (Recipe, Method)):
        return method
    if not isinstance(method, str):
        raise no_method(method)
    if method == "default":
        return cast("Recipe", kind_of(features).method())
    return METHODS[check.one_of(method, [*METHODS, "default"], "method")]


def unfitted_features(explainer: Explainer, X: RawRows) -> Features:
    """What can be on or off, not fitted yet unless a Method brings it, whose imputer was fitted with it."""
    if isinstance(explainer.method, Method):
        return explainer.method.features
    return explainer.features if explainer.features is not None else features_for(X)


def size_asked(explainer: Explainer, recipe: Recipe | Method) -> float | str | None:
    """How much to keep: what was asked for, or "auto" where nobody said and the method can choose."""
    can_choose = recipe.has_path if isinstance(recipe, Recipe) else recipe.plan.open_ended
    return "auto" if can_choose and explainer.keep is None and explainer.penalty is None else plain(explainer.keep)


def recipe_arguments(explainer: Explainer, recipe: Recipe) -> dict[str, Any]:
    """What a recipe is told about how much to keep, how hard to try, and settings of its own."""
    keep = None if size_asked(explainer, recipe) == "auto" else explainer.keep
    told = {"keep": keep, "penalty": explainer.penalty, "thorough": explainer.budget == "thorough"}
    return {**told, **(explainer.options or {})}


class Fitting:
    """The steps of one fit."""

    def __init__(self, explainer: Explainer, X: RawRows, y: Labels, model: Model) -> None:
        blank = unfitted_features(explainer, X)
        if isinstance(explainer.method, Method):
            _check.parts_given_once(explainer)
        self.explainer, self.recipe = explainer, chosen_recipe(explainer.method, blank)
        reads_output = self.recipe.reads_output
        self.regime: Regime = _check.regime_fits(explainer.regime, y, model, reads_output)  # type: ignore[assignment]  # one of its words
        if isinstance(self.recipe, Method):
            self.regime = regime_of_method(explainer.regime, self.regime, self.recipe)
        else:
            _check.method_options(explainer.options, self.recipe, explainer.get_params(deep=False), learns=self._learns)
        rows = blank.check(X)
        if blank.is_fitted and not isinstance(self.recipe, Method):
            blank = copy.deepcopy(explainer.features).fit(rows)  # type: ignore[union-attr]  # it was given
        labels = y if self._explains_labels else None
        problem = self.problem = Problem.of(X, features=blank)
        self._check_settings()
        if labels is not None:
            same_length(len(rows), target_values(labels))
        network_reads(model, problem.features.to_network, problem.encoded.x)
        self.problem = replace(problem, targets=targets_of(X, labels, model))  # a model may be slow: it is asked when all else is right
        target = self.problem.labels if self._explains_labels else self.problem.answer
        assert target is not None  # the regime says so
        self.target = target
        self.seed = seed_of(explainer.random_state)
        self._check_target()

    @property
    def _explains_labels(self) -> bool:
        return self.regime in ("free", "fixed")

    @property
    def _learns(self) -> bool:
        """Whether a predictor learns beside the selector."""
        return self.regime in ("free", "surrogate")

    def _check_settings(self) -> None:
        """Refuse settings that contradict each other or do not fit the rows."""
        explainer, features = self.explainer, self.problem.features
        check.enough_features(features.count)
        self.keep = size_asked(explainer, self.recipe)
        check.keep_or_penalty(self.keep, explainer.penalty, features.count)
        can_choose = self.recipe.has_path if isinstance(self.recipe, Recipe) else self.recipe.plan.measures_gains
        _check.tolerances(self.keep, explainer.tolerance, explainer.tolerance_points, can_choose)
        check.one_of(explainer.budget, BUDGETS, "budget")
        known_imputer(explainer.imputer)
        _check.networks_given(selector=explainer.selector, predictor=explainer.predictor)
        check.enough_rows(len(self.problem))
        check.counts(epochs=explainer.epochs, batch_size=explainer.batch_size, max_rows=explainer.max_rows)
        check.positive(learning_rate=explainer.learning_rate)

    def _check_target(self) -> None:
        """Refuse a target that does not fit the model or the settings."""
        if self.problem.answer is not None:
            _check.outputs_fit(self.problem.answer.outputs, self.target.outputs, "the model")
        _check.points_fit(self.explainer.tolerance_points, self.target.outputs.real)

    def run(self, checkpoint: str | Path | None) -> Fitted:
        """Build the method, train it, and choose how much it keeps."""
        with seeded(self.seed):
            fabric = fabric_of(self.explainer.device)
            splits = self._splits()
            method = self._built(splits.train.x, fabric.device)  # an imputer keeps rows, which must not be those held out
            _check.outputs_fit(method.predictor.outputs, self.target.outputs, "the predictor")
            train, validation = splits.train, splits.validation
            settings = self._settings(len(train))
            method.to(fabric.device)
            method.refuse_misfit(train.take(slice(0, 4)).to(fabric.device))
            kept = None if checkpoint is None else Checkpoint(checkpoint, self._fingerprint())
            history = list(fit(method, method.phases(), train, validation, settings, fabric=fabric, checkpoint=kept))
            self._calibrate(method, joined(validation, train).take(slice(0, CALIBRATION_ROWS)).to(fabric.device))
            path: pd.DataFrame | None = None
            if self.keep == "auto":
                tolerance = (self.explainer.tolerance, self.explainer.tolerance_points)
                path, more = choose_price(method, splits, settings, fabric, tolerance=tolerance)
                history += more
            if type(method.imputer) in IMPUTERS.values():
                method.imputer = with_fewer_rows(method.imputer)
        return Fitted(method, self.problem, self.target, self.regime, splits, path, pd.DataFrame(history))

    # ---- what is trained ----

    def _built(self, x: Tensor, device: torch.device) -> Method:
        """The method, with an imputer that is fitted to encoded rows."""
        explainer, recipe, features = self.explainer, self.recipe, self.problem.features
        if isinstance(recipe, Method):
            given = copy.deepcopy(recipe)
            given.features = features
            return given
        predictor = copy.deepcopy(explainer.predictor)
        if self.problem.model is not None and self.regime in ("self", "fixed"):
            predictor = frozen_predictor(self.problem.model, self.target, features)
        wanted = explainer.imputer
        if wanted is None:
            wanted = kind_of(features).imputer() if recipe.imputer == "by kind" else recipe.imputer
        imputer = None if wanted is None else fitted_imputer(wanted, x, features, device)
        mask_costs: tuple[Continuity, ...] = ()
        if explainer.continuity is not None:
            _check.continuity_fits(explainer.continuity, recipe.name, recipe.prices_masks)
            mask_costs = (Continuity(explainer.continuity, features.neighbours()),)
        parts = Parts(copy.deepcopy(explainer.selector), predictor, imputer, mask_costs, self.regime)
        return recipe(features, self.target.outputs, parts, **recipe_arguments(explainer, recipe))

    def _splits(self) -> Splits:
        """Rows to learn from, rows to choose on, and rows that nothing has seen."""
        answer = self.problem.answer
        context = None if not self.recipe.reads_output or answer is None else answer.values.reshape(len(self.problem), -1)
        trial = self.problem.trial(self.target)
        trial = Trial(trial.x, trial.target, valid=trial.valid, context=context)
        order = torch.randperm(len(trial))
        held, unseen = max(5, ceil(len(order) / 10), min(200, len(order) // 5)), max(5, ceil(len(order) / 20))
        parts = order[held + unseen :], order[:held], order[held : held + unseen]
        train, validation, rest = (trial.take(part) for part in parts)
        return Splits(train, validation, rest, self.seed)

    def _settings(self, rows: int) -> Settings:
        explainer, pace = self.explainer, kind_of(self.problem.features).pace
        batch = explainer.batch_size or min(pace.batch_size, max(32, rows // 10))
        grows = isinstance(self.recipe, Recipe) and self.recipe.scales_itself
        steps = STEPS * (THOROUGH if explainer.budget == "thorough" and not grows else 1)
        return Settings(
            epochs=explainer.epochs or max(5, ceil(steps / ceil(rows / batch))),
            batch_size=batch,
            learning_rate=explainer.learning_rate or 1e-3,
            warmup_steps=pace.warmup_steps,
            max_rows=explainer.max_rows or pace.max_rows(self.problem.features),
            seed=self.seed,
        )

    def _calibrate(self, method: Method, trial: Trial) -> None:
        """Move the selector's threshold so that a rate asked for is kept, of the features that are there."""
        rate = plain(self.explainer.keep)
        if not isinstance(rate, float):
            return
        step = self.explainer.max_rows or kind_of(method.features).pace.max_rows(method.features)
        with torch.no_grad():
            drawn = [method.distribution(part) for part in trial.parts(step)]
            if getattr(drawn[0], "k", None) is None:
                logits = torch.cat([p.logits if p.valid is None else p.logits[p.valid][:, None] for p in drawn])
                # NumPy's quantile: torch's refuses more than 16 million numbers.
                method.selector.offset -= float(np.quantile(logits.cpu().numpy(), 1 - rate))

    def _fingerprint(self) -> str:
        """What a checkpoint belongs to: the rows, the target and every setting that matters to the result."""
        explainer = self.explainer
        params: dict[str, Any] = explainer.get_params(deep=False)
        told = {name: repr(value) for name, value in params.items() if name not in ("device", "max_rows")}
        told["random_state"] = repr(self.seed)
        if isinstance(explainer.method, Recipe):  # its own text tells where the function lies in memory, which changes
            told["method"] = f"{explainer.method.build.__module__}.{explainer.method.build.__qualname__}"
        told["options"] = repr(sorted((name, plain(value)) for name, value in (explainer.options or {}).items()))
        digest = hashlib.blake2b(self.problem.encoded.x.numpy().tobytes(), digest_size=16)
        digest.update(repr(self.problem.features.state()).encode())  # rows in other units are encoded alike
        digest.update(self.target.values.numpy().tobytes())
        digest.update(repr(sorted(told.items())).encode())
        for part in (value for value in params.values() if isinstance(value, nn.Module)):
            for weights in part.state_dict().values():  # an imputer's values are settings, and its name does not tell them
                digest.update(weights.cpu().numpy().tobytes())
        return digest.hexdigest()


def plain(number: Json) -> Json:
    """A NumPy number as Python's own, so that 3 is a whole number whoever counted it."""
    return number.item() if isinstance(number, np.generic) else number


def seed_of(random_state: RandomState) -> int:
    """A seed, of whatever scikit-learn takes for one."""
    return int(random_state) if isinstance(random_state, (int, np.integer)) else int(check_random_state(random_state).randint(2**31 - 1))
