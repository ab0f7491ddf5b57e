"""A cell on data whose truth is known: fit from labels, explain the test rows, judge."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .. import estimators, imputers, objectives
from ..auditing import encoding_values
from ..core import Dataset, Trial, seeded
from ..data import load_data
from ..features import Columns
from ..masks import Coins
from ..methods import METHODS, Method, Parts, PredictorSchedule
from ..metrics import accuracy, auroc, auroc_against_truth, cfsr, empty, fdr, kept, mask_only_accuracy, median_rank, tpr
from ..predictors import Classes
from ..training import Evaluator, Settings, fit, train_evaluator
from .cells import Cell, split, trial_of


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
    train, validation = split(trial_of(features, data.train))
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
    return train_evaluator(features, Classes(2), *split(trial_of(features, data.train)), seed=seed + 1000)


def judge(method: Method, features: Columns, data: Dataset, train: Trial, seed: int) -> dict[str, float]:
    """The papers' metrics on the test rows, by an evaluator that has seen the training rows alone."""
    test, labels = trial_of(features, data.test), torch.as_tensor(data.test.y)
    x = test.x
    scores, mask = method.explain(x)
    with seeded(seed):
        own = method.probabilities(x, mask)
    evaluator = _evaluator(data.name, len(data.train), seed)
    by_evaluator, full = evaluator.probabilities(x, mask), evaluator.probabilities(x, torch.ones_like(mask))
    _, train_mask = method.explain(train.x)
    told = encoding_values(evaluator, train, train_mask, test, mask, seed=seed)
    numbers: dict[str, Tensor] = {
        "ACC": accuracy(own, labels),
        "AUROC": auroc(own, labels),
        "eACC": accuracy(by_evaluator, labels),
        "eAUROC": auroc(by_evaluator, labels),
        "FULL eAUROC": auroc(full, labels),
        "encoding": told,
        "mask-only ACC": mask_only_accuracy(train_mask, train.target.probs.argmax(1), mask, labels),  # type: ignore[attr-defined]
        "kept": kept(mask),
        "empty": empty(mask),
    }
    if data.test.truth is not None:
        truth = torch.as_tensor(data.test.truth)
        numbers |= {"TPR": tpr(mask, truth), "FDR": fdr(mask, truth), "truth AUROC": auroc_against_truth(scores, truth)}
        numbers["median rank"] = median_rank(scores, truth, torch.Generator().manual_seed(seed))
    if data.control_flow is not None:
        numbers["CFSR"] = cfsr(mask, data.control_flow)
    return {name: float(values.double().mean()) for name, values in numbers.items()}
