"""Cells on data with known ground truth: fit from labels, explain the test rows, and evaluate."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import Tensor

from .. import estimators, imputers, objectives
from ..core import Classes, Explanation, seeded
from ..core.contracts import Features
from ..core.splits import first_tenth
from ..data import load_data
from ..evaluation import Evaluators, Others
from ..experiments.cell import Cell
from ..experiments.scenario import Scenario
from ..masks import FixedRate
from ..measures.prediction import auroc
from ..methods import METHODS, Method, Parts, PredictorSchedule
from ..training import Settings, fit
from .table import measure_means


def build(cell: Cell, features: Features) -> Method:
    """The method of a cell, whose estimator, imputer and objective are pairs (name, settings)."""
    options: dict[str, Any] = dict(cell.options)
    if options.pop("surrogate", False):  # the predictor is trained on random masks instead of the selector's
        options["schedule"] = PredictorSchedule(masks=FixedRate)
    for name, family in (("estimator", estimators), ("imputer", imputers), ("objective", objectives)):
        if name in options:
            kind, settings = options[name]
            options[name] = getattr(family, kind)(**settings)
    return METHODS[cell.method](features, Classes(2), Parts(imputer=options.pop("imputer", None)), **options)


@lru_cache(maxsize=32)
def _scene(name: str, rows: int | None, seed: int) -> tuple[Scenario, Evaluators]:
    """A data set with a seed, and its evaluators, which do not depend on the method."""
    scene = Scenario(name, load_data(name, seed=seed, rows=rows), seed)
    return scene, replace(scene.evaluators(), split=first_tenth)


def compute(cell: Cell, _folder: Path) -> dict[str, float]:
    """Fit, explain the test rows, and compute the papers' measures by an evaluator trained on the training rows only."""
    scene, evaluators = _scene(cell.data, cell.training.get("rows"), cell.seed)
    train, validation = first_tenth(scene.batch(scene.data.train))
    settings = Settings(seed=cell.seed, **{name: value for name, value in cell.training.items() if name != "rows"})
    with seeded(cell.seed):
        method = build(cell, scene.features)
        began = time.monotonic()
        fit(method, method.phases(), train, validation, settings)
        seconds = time.monotonic() - began
    method.eval()
    test = scene.batch(scene.data.test)
    scores, mask = method.explain(test.x)

    def own() -> Tensor:
        with seeded(scene.seed):
            return method.probabilities(test.x, mask)

    explanation = Explanation(scores, mask, scene.features.names, compute_kept_prediction=own)
    evaluation = scene.evaluation(explanation, evaluators, Others(train, lambda: method.explain(train.x)))
    full = auroc(evaluation.predict_all(FixedRate), evaluation.labels)
    return {"fit_seconds": seconds, **measure_means(evaluation), "FULL eAUROC": float(full.double().mean())}
