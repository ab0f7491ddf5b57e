"""The fit of an Explainer, from its settings to trained parts."""

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
from ..methods import PRICE, Method, Parts, Recipe
from ..models import Problem, QueriedRows, frozen_predictor
from ..objectives import Continuity
from ..training import Checkpoint, Settings, fabric_of, fit
from .path import choose_price
from .settings import check_options, check_settings, chosen_regime, recipe_arguments, requested_keep, resolve_recipe

if TYPE_CHECKING:
    from .explainer import Explainer

STEPS = 3000  # optimiser steps of a default fit
THOROUGH = 2  # times as many with budget="thorough", for methods that have no larger version
CALIBRATION_ROWS = 20_000  # rows to calibrate a rate on: training rows too, because few validation rows give a larger error


class Fitting:
    """The steps of one fit."""

    def __init__(self, explainer: Explainer, X: RawRows, y: Labels, model: Model) -> None:
        if isinstance(explainer.method, Method):
            unfitted = explainer.method.features  # its imputer was fitted with them
            parts = ("keep", "penalty", "features", "selector", "predictor", "imputer", "continuity", "options")
            extra = [name for name in parts if getattr(explainer, name) not in (None, {})]
            if extra:
                raise ValueError(f"A Method contains all its parts, so {extra} cannot be passed with it. Build the Method with them.")
        else:
            unfitted = explainer.features if explainer.features is not None else features_for(X)
        self.explainer, self.recipe = explainer, resolve_recipe(explainer.method, unfitted)
        self.regime = chosen_regime(explainer.regime, self.recipe, y, model)
        if isinstance(self.recipe, Recipe):
            check_options(explainer, self.recipe, learns=self.regime in ("free", "surrogate"))
        if unfitted.is_fitted and not isinstance(self.recipe, Method):
            unfitted = unfitted.fit(unfitted.check(X))
        problem = Problem.read(X, unfitted)
        check_settings(explainer, self.recipe, problem.features.count, len(problem))
        self.keep = requested_keep(explainer, self.recipe)
        explains_labels = self.regime in ("free", "fixed")
        open_size = explainer.keep is None and explainer.tolerance is None and explainer.tolerance_points is None
        by_price = self.keep == "auto" and open_size and explains_labels and isinstance(self.recipe, Recipe)
        self.price = PRICE if by_price else None  # per feature; None: chosen on the path, or given by the user
        self.problem = problem.asking(y if explains_labels else None, model)  # last, because a model may be slow
        label_target, model_target, _ = self.problem.targets
        target = label_target if explains_labels else model_target
        assert target is not None  # checked with the regime
        self.target = target
        self.seed = seed_of(explainer.random_state)
        if model_target is not None:
            _check_outputs(model_target.outputs, target.outputs, "The model")
        if explainer.tolerance_points is not None and target.outputs.real:
            raise ValueError("tolerance_points needs classes, but the target has real values. Use tolerance, in nats.")

    def run(self, checkpoint: str | Path | None) -> tuple[Method, Splits, pd.DataFrame | None, pd.DataFrame]:
        """Build the method, train it, and choose how much it keeps; return it, the splits, the path and the history."""
        with seeded(self.seed):
            fabric = fabric_of(self.explainer.device)
            batch, model_target = self.problem.batch(self.target), self.problem.targets.model_target
            context = None if not self.recipe.reads_output or model_target is None else model_target.values.reshape(len(batch), -1)
            splits = Splits.of(Batch(batch.x, batch.target, valid=batch.valid, context=context), self.seed)
            method = self._built(splits.train.x, fabric.device)  # an imputer may store rows, which must not be held-out rows
            _check_outputs(method.predictor.outputs, self.target.outputs, "The predictor")
            train, validation = splits.train, splits.validation
            settings = self._settings(len(train))
            method.to(fabric.device)
            method.check_parts(train.take(slice(0, 4)).to(fabric.device))
            state = None if checkpoint is None else Checkpoint(checkpoint, self._fingerprint())
            history = list(fit(method, method.phases(), train, validation, settings, fabric=fabric, checkpoint=state))
            self._calibrate(method, concat_batches(validation, train).take(slice(0, CALIBRATION_ROWS)).to(fabric.device))
            path: pd.DataFrame | None = None
            if self.keep == "auto":
                tolerance = (self.explainer.tolerance, self.explainer.tolerance_points)
                path, more = choose_price(method, splits, settings, fabric, tolerance=tolerance, price=self.price)
                history += more
            if type(method.imputer) in IMPUTERS.values():
                method.imputer = limit_background(method.imputer)
        return method, splits, path, pd.DataFrame(history)

    # ---- what is trained ----

    def _built(self, x: Tensor, device: torch.device) -> Method:
        """Build the method, with an imputer fitted to encoded rows."""
        explainer, recipe, features = self.explainer, self.recipe, self.problem.features
        if isinstance(recipe, Method):
            method = copy.deepcopy(recipe)
            method.features = features
            return method
        predictor = copy.deepcopy(explainer.predictor)
        if self.problem.targets.model is not None and self.regime in ("self", "fixed"):
            predictor = frozen_predictor(self.problem.targets.model, self.target, features)
        choice = explainer.imputer
        if choice is None:
            choice = kind_of(features).imputer() if recipe.imputer == "by kind" else recipe.imputer
        imputer = None if choice is None else fit_imputer(choice, x, features, device)
        mask_costs: tuple[Continuity, ...] = ()
        if explainer.continuity is not None:
            check.positive(continuity=explainer.continuity)
            if not recipe.supports_mask_costs:
                raise ValueError(
                    f"continuity={explainer.continuity} is a cost of whole masks, but method {recipe.name!r} predicts gains of "
                    "single features. Use another method, such as 'sufficient' or 'realx'."
                )
            mask_costs = (Continuity(explainer.continuity, features.neighbours()),)
        thorough = explainer.budget == "thorough"
        queried, target = self.problem.targets.model, self.target
        model = None if queried is None else QueriedRows(queried, features.decoder(self.problem.rows), target.mean, target.scale)
        parts = Parts(copy.deepcopy(explainer.selector), predictor, imputer, mask_costs, self.regime, thorough, model)
        arguments = recipe_arguments(explainer, recipe)
        if self.price is not None:
            arguments["penalty"] = self.price * features.count
        return recipe(features, self.target.outputs, parts, **arguments)

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
        """Move the selector's threshold so that the requested rate of valid features is kept."""
        rate = plain(self.explainer.keep)
        if not isinstance(rate, float):
            return
        step = self.explainer.max_rows or kind_of(method.features).pace.max_rows(method.features)
        with torch.no_grad():
            distributions = [method.distribution(part) for part in batch.chunks(step)]
            if getattr(distributions[0], "k", None) is None:
                logits = torch.cat([p.logits if p.valid is None else p.logits[p.valid][:, None] for p in distributions])
                # NumPy's quantile, because torch's raises for more than 16 million numbers.
                method.selector.offset -= float(np.quantile(logits.cpu().numpy(), 1 - rate))

    def _fingerprint(self) -> str:
        """Digest of the rows, the target and all settings that affect the result: a checkpoint is only valid for the same digest."""
        explainer = self.explainer
        params: dict[str, Any] = explainer.get_params(deep=False)
        settings = {name: repr(value) for name, value in params.items() if name not in ("device", "max_rows")}
        settings["random_state"] = repr(self.seed)
        if isinstance(explainer.method, Recipe):  # its repr contains a memory address, which changes
            settings["method"] = f"{explainer.method.build.__module__}.{explainer.method.build.__qualname__}"
        settings["options"] = repr(sorted((name, plain(value)) for name, value in (explainer.options or {}).items()))
        digest = hashlib.blake2b(self.problem.encoded.x.numpy().tobytes(), digest_size=16)
        digest.update(repr(self.problem.features.state()).encode())  # rows in other units may have the same encoding
        digest.update(self.target.values.numpy().tobytes())
        digest.update(repr(sorted(settings.items())).encode())
        for part in (value for value in params.values() if isinstance(value, nn.Module)):
            for weights in part.state_dict().values():  # the values of an imputer are settings too
                digest.update(weights.cpu().numpy().tobytes())
        return digest.hexdigest()


def _check_outputs(outputs: Outputs | None, needed: Outputs, name: str) -> None:
    """Raise if the outputs of a predictor or a model do not match the target."""
    if outputs is not None and outputs != needed:
        returned, expected = (f"{o.count} classes" if not o.real else "one real value" for o in (outputs, needed))
        raise ValueError(f"{name} returns {returned} per row, but the target has {expected}. Use one that matches the target.")
