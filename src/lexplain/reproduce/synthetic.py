"""A cell on data whose truth is known: fit from labels, explain the test rows, judge."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .. import estimators, imputers, objectives
from ..auditing import Evidence, Judges, OtherRows, Resources
from ..core import Classes, Dataset, Explanation, Trial, seeded
from ..core.rows import MAX_ROWS
from ..core.splits import first_tenth
from ..data import load_data
from ..features import Columns
from ..masks import Coins
from ..methods import METHODS, Method, Parts, PredictorSchedule
from ..metrics import auroc
from ..predictors import from_labels
from ..training import Evaluator, Settings, fabric_of, fit, train_evaluator
from .cells import Cell, measured, trial_of


def build(cell: Cell, features: Columns) -> Method:
    """The recipe of a cell; an estimator, an imputer and an objective are given as (name, settings)."""
    options: dict[str, Any] = dict(cell.options)
    if options.pop("surrogate", False):  # the predictor learns on random masks instead of the selector's
        options["schedule"] = PredictorSchedule(masks=Coins)
    for name, family in (("estimator", estimators), ("imputer", imputers), ("objective", objectives)):
        if name in options:
            kind, settings = options[name]
            options[name] = getattr(family, kind)(**settings)
    return METHODS[cell.method](features, Classes(2), Parts(imputer=options.pop("imputer", None)), **options)


def compute(cell: Cell) -> dict[str, float]:
    """Everything the tables need of one cell."""
    data = load_data(cell.data, seed=cell.seed, **({"rows": cell.training["rows"]} if "rows" in cell.training else {}))
    features = Columns().fit(data.train.x)
    train, validation = first_tenth(trial_of(features, data.train))
    settings = Settings(seed=cell.seed, **{name: value for name, value in cell.training.items() if name != "rows"})
    with seeded(cell.seed):
        method = build(cell, features)
        began = time.monotonic()
        fit(method, method.phases(), train, validation, settings)
        seconds = time.monotonic() - began
    method.eval()
    return {"fit_seconds": seconds, **judge(method, features, data, train, cell.seed)}


@lru_cache(maxsize=32)
def _evaluator(name: str, rows: int, seed: int) -> Evaluator:
    """The judge of a data set and a seed, shared by all methods: it knows none of them."""
    data = load_data(name, seed=seed, rows=rows)
    features = Columns().fit(data.train.x)
    return train_evaluator(features, Classes(2), *first_tenth(trial_of(features, data.train)), seed=seed + 1000)


def judge(method: Method, features: Columns, data: Dataset, train: Trial, seed: int) -> dict[str, float]:
    """The papers' metrics on the test rows, by an evaluator that has seen the training rows alone."""
    test, target = trial_of(features, data.test), from_labels(data.test.y)
    scores, mask = method.explain(test.x)

    def own() -> Tensor:
        with seeded(seed):
            return method.probabilities(test.x, mask)

    explanation, evaluator = Explanation(scores, mask, features.names, predict=own), _evaluator(data.name, len(data.train), seed)
    other, run = OtherRows(train, lambda: method.explain(train.x)), Resources(fabric_of("cpu"), seed, MAX_ROWS)
    judges = Judges(features, target.outputs, test, explanation, other, run, make=lambda _, __: evaluator)
    truth = None if data.test.truth is None else torch.as_tensor(data.test.truth)
    evidence = Evidence(explanation, features, target, judges, truth=truth, control_flow=data.control_flow)
    full = auroc(judges.everything(Coins), evidence.labels)
    return {**measured(evidence), "FULL eAUROC": float(full.double().mean())}
