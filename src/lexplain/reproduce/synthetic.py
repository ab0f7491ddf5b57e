"""A cell on data whose truth is known: fit from labels, explain the test rows, judge."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .. import estimators, imputers, objectives
from ..core import Classes, Dataset, Explanation, Trial, seeded
from ..core.splits import first_tenth
from ..data import load_data
from ..evaluation import Evaluation, Evaluators, Others, Run
from ..features import Columns
from ..masks import Coins
from ..methods import METHODS, Method, Parts, PredictorSchedule
from ..metrics import auroc
from ..models import from_labels
from ..training import Settings, fabric_of, fit
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
def _evaluators(name: str, rows: int, seed: int) -> Evaluators:
    """The judges of a data set and a seed, shared by all methods: they know none of them."""
    data = load_data(name, seed=seed, rows=rows)
    features = Columns().fit(data.train.x)
    return Evaluators(features, Classes(2), seed=seed + 1000, rows=trial_of(features, data.train), split=first_tenth)


def judge(method: Method, features: Columns, data: Dataset, train: Trial, seed: int) -> dict[str, float]:
    """The papers' metrics on the test rows, by an evaluator that has seen the training rows alone."""
    test = trial_of(features, data.test)
    scores, mask = method.explain(test.x)

    def own() -> Tensor:
        with seeded(seed):
            return method.probabilities(test.x, mask)

    evaluation = Evaluation(
        Explanation(scores, mask, features.names, predict=own),
        features,
        test,
        from_labels(data.test.y),
        Run(fabric_of("cpu"), seed),
        _evaluators(data.name, len(data.train), seed),
        Others(train, lambda: method.explain(train.x)),
        truth=None if data.test.truth is None else torch.as_tensor(data.test.truth),
        control_flow=data.control_flow,
    )
    full = auroc(evaluation.everything(Coins), evaluation.labels)
    return {**measured(evaluation), "FULL eAUROC": float(full.double().mean())}
