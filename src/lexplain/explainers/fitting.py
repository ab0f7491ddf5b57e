"""One fit of an Explainer, from its settings to trained parts."""

from __future__ import annotations

import copy
import hashlib
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import check
from ..core import Batch, Outputs, concat_batches, seeded
from ..core.contracts import Labels, Model, RawRows
from ..core.kinds import features_for, kind_of
from ..core.rows import plain
from ..core.seeding import seed_of
from ..core.splits import Splits
from ..imputers import IMPUTERS, limit_background
from ..imputers.given import fit_imputer
from ..methods import Method, Parts, Recipe
from ..models import Problem, frozen_predictor
from ..objectives import Continuity
from ..training import Checkpoint, Settings, fabric_of, fit
from .path import choose_price
from .settings import chosen_regime, recipe_arguments, refuse_options, refuse_settings, requested_keep, resolve_recipe

if TYPE_CHECKING:
    from .explainer import Explainer

STEPS = 3000  # optimiser steps of a default fit
THOROUGH = 2  # times as many of a thorough one, for methods that do not grow by themselves
CALIBRATION_ROWS = 20_000  # rows that a rate is met on; a tenth of a small table would miss it by more than training's own bias


class Fitting:
    """The steps of one fit."""

    def __init__(self, explainer: Explainer, X: RawRows, y: Labels, model: Model) -> None:
        if isinstance(explainer.method, Method):
            blank = explainer.method.features  # its imputer was fitted with them
            parts = ("keep", "penalty", "features", "selector", "predictor", "imputer", "continuity", "options")
            given = [name for name in parts if getattr(explainer, name) not in (None, {})]
            if given:
                raise ValueError(f"a Method built from parts was given together with {given}; put these into the Method")
        else:
            blank = explainer.features if explainer.features is not None else features_for(X)
        self.explainer, self.recipe = explainer, resolve_recipe(explainer.method, blank)
        self.regime = chosen_regime(explainer.regime, self.recipe, y, model)
        if isinstance(self.recipe, Recipe):
            refuse_options(explainer, self.recipe, learns=self.regime in ("free", "surrogate"))
        if blank.is_fitted and not isinstance(self.recipe, Method):
            blank = blank.fit(blank.check(X))
        problem = Problem.read(X, blank)
        refuse_settings(explainer, self.recipe, problem.features.count, len(problem))
        self.keep = requested_keep(explainer, self.recipe)
        explains_labels = self.regime in ("free", "fixed")
        self.problem = problem.asking(y if explains_labels else None, model)  # last, as a model may be slow
        labels, answer, _ = self.problem.targets
        target = labels if explains_labels else answer
        assert target is not None  # the regime says so
        self.target = target
        self.seed = seed_of(explainer.random_state)
        if answer is not None:
            _refuse_misfit(answer.outputs, target.outputs, "the model")
        if explainer.tolerance_points is not None and target.outputs.real:
            raise ValueError("a real-valued target has no accuracy; give tolerance in nats instead of tolerance_points")

    def run(self, checkpoint: str | Path | None) -> tuple[Method, Splits, pd.DataFrame | None, pd.DataFrame]:
        """Build the method, train it, and choose how much it keeps; return it, the splits, the path of prices and the history."""
        with seeded(self.seed):
            fabric = fabric_of(self.explainer.device)
            batch, answer = self.problem.batch(self.target), self.problem.targets.model_target
            context = None if not self.recipe.reads_output or answer is None else answer.values.reshape(len(batch), -1)
            splits = Splits.of(Batch(batch.x, batch.target, valid=batch.valid, context=context), self.seed)
            method = self._built(splits.train.x, fabric.device)  # an imputer keeps rows, which must not be those held out
            _refuse_misfit(method.predictor.outputs, self.target.outputs, "the predictor")
            train, validation = splits.train, splits.validation
            settings = self._settings(len(train))
            method.to(fabric.device)
            method.check_parts(train.take(slice(0, 4)).to(fabric.device))
            kept = None if checkpoint is None else Checkpoint(checkpoint, self._fingerprint())
            history = list(fit(method, method.phases(), train, validation, settings, fabric=fabric, checkpoint=kept))
            self._calibrate(method, concat_batches(validation, train).take(slice(0, CALIBRATION_ROWS)).to(fabric.device))
            path: pd.DataFrame | None = None
            if self.keep == "auto":
                tolerance = (self.explainer.tolerance, self.explainer.tolerance_points)
                path, more = choose_price(method, splits, settings, fabric, tolerance=tolerance)
                history += more
            if type(method.imputer) in IMPUTERS.values():
                method.imputer = limit_background(method.imputer)
        return method, splits, path, pd.DataFrame(history)

    # ---- what is trained ----

    def _built(self, x: Tensor, device: torch.device) -> Method:
        """The method, with an imputer that is fitted to encoded rows."""
        explainer, recipe, features = self.explainer, self.recipe, self.problem.features
        if isinstance(recipe, Method):
            given = copy.deepcopy(recipe)
            given.features = features
            return given
        predictor = copy.deepcopy(explainer.predictor)
        if self.problem.targets.model is not None and self.regime in ("self", "fixed"):
            predictor = frozen_predictor(self.problem.targets.model, self.target, features)
        wanted = explainer.imputer
        if wanted is None:
            wanted = kind_of(features).imputer() if recipe.imputer == "by kind" else recipe.imputer
        imputer = None if wanted is None else fit_imputer(wanted, x, features, device)
        mask_costs: tuple[Continuity, ...] = ()
        if explainer.continuity is not None:
            check.positive(continuity=explainer.continuity)
            if not recipe.supports_mask_costs:
                raise ValueError(
                    f"continuity={explainer.continuity} prices masks while they are learned, but method {recipe.name!r} regresses gains of "
                    "single features; choose another method, such as 'sufficient' or 'realx'"
                )
            mask_costs = (Continuity(explainer.continuity, features.neighbours()),)
        thorough = explainer.budget == "thorough"
        parts = Parts(copy.deepcopy(explainer.selector), predictor, imputer, mask_costs, self.regime, thorough)
        return recipe(features, self.target.outputs, parts, **recipe_arguments(explainer, recipe))

    def _settings(self, rows: int) -> Settings:
        explainer, pace = self.explainer, kind_of(self.problem.features).pace
        batch = explainer.batch_size or min(pace.batch_size, max(32, rows // 10))
        grows = isinstance(self.recipe, Recipe) and self.recipe.supports_thorough
        steps = STEPS * (THOROUGH if explainer.budget == "thorough" and not grows else 1)
        return Settings(
            epochs=explainer.epochs or max(5, ceil(steps / ceil(rows / batch))),
            batch_size=batch,
            learning_rate=explainer.learning_rate or 1e-3,
            warmup_steps=pace.warmup_steps,
            max_rows=explainer.max_rows or pace.max_rows(self.problem.features),
            seed=self.seed,
        )

    def _calibrate(self, method: Method, batch: Batch) -> None:
        """Move the selector's threshold so that a rate asked for is kept, of the features that are there."""
        rate = plain(self.explainer.keep)
        if not isinstance(rate, float):
            return
        step = self.explainer.max_rows or kind_of(method.features).pace.max_rows(method.features)
        with torch.no_grad():
            drawn = [method.distribution(part) for part in batch.chunks(step)]
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


def _refuse_misfit(found: Outputs | None, needed: Outputs, who: str) -> None:
    """Refuse a predictor or a model whose output is not of the target's kind."""
    if found is not None and found != needed:
        told, wanted = (f"{o.count} classes" if not o.real else "one real value" for o in (found, needed))
        raise ValueError(f"{who} says {told} a row, but the target is {wanted}; give one that fits the target")
