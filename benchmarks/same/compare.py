"""Comparisons: of two explainers on two seeds, of a model of the user, in one process and in two; and a measure of one's own.

Insertion, deletion and "off the data, other rows" are not compared: what they draw in a comparison depends on what was drawn before them.
"""

from __future__ import annotations

import multiprocessing
from functools import lru_cache, partial
from typing import Any

import torch

from . import Case
from .given import linear_model, numbers, s3, three_model
from .places import first_of, short, shorten

if multiprocessing.parent_process() is not None:
    shorten()  # a worker process imports this file with the measure below: constants are to be short there too


def share_of_first(evaluation: Any) -> torch.Tensor:
    """A measure of one's own: whether the first feature is kept."""
    first: torch.Tensor = evaluation.mask[:, 0].double()
    return first


def own() -> Any:
    """That measure as the library takes it."""
    return first_of("lexplain.auditing:Measure")("first", "First kept", share_of_first, None, "share of rows that keep the first feature")


MORE = (
    "acc",
    "eACC",
    "encoding",
    "fs_m",
    "fs_a",
    "mask_only_acc",
    "infidelity",
    "off_data_mean",
    "eacc_any_rate",
    "acc_all",
    "sensitivity",
)


def cases() -> dict[str, Case]:
    """Each comparison."""
    return {
        "compare/labels": partial(_compared, ["gains", "random"], None, None),
        "compare/model of two": partial(_compared, ["l2x", "ablation"], linear_model, None),
        "compare/model of three": partial(_compared, ["gains", "ablation"], three_model, MORE),
        "compare/network": partial(_compared, ["saliency", "all"], None, ("TPR", "Kept", "eACC", "fs_m")),
        "compare/fits each row": partial(_compared, ["lime"], linear_model, ("kept", "encoding", "eacc")),
        "compare/two processes": partial(_compared, ["l2x", "random"], None, ("eACC", "TPR", "encoding"), workers=2),
        "compare/digits": _digits,
    }


@lru_cache
def _explainers() -> dict[str, Any]:
    import lexplain as lx
    from lexplain.baselines import BASELINES

    small: dict[str, Any] = {"epochs": 5, "batch_size": 60, "device": "cpu"}
    return {
        "gains": lx.Explainer("gains", keep=3, **small),
        "l2x": lx.Explainer("l2x", **small),
        "lime": BASELINES["lime"](num_samples=30),
        **{name: BASELINES[name]() for name in ("random", "all", "ablation", "saliency")},
    }


def _steps() -> dict[str, int]:
    from inspect import signature

    import lexplain as lx

    judge = "judge_steps" if "judge_steps" in signature(lx.compare).parameters else "evaluator_steps"
    return {judge: 40, "network_steps": 40}


def _compared(names: list[str], model: Any, measures: Any, workers: int = 1) -> dict[str, Any]:
    import lexplain as lx

    data = s3(100)
    asked = None if measures is None else [*measures, own()]
    with short():
        found = lx.compare(
            {name: _explainers()[name] for name in names}, data, asked, seeds=2, model=model, rows=40, workers=workers, **_steps()
        )
    return said(found)


def said(found: Any) -> dict[str, Any]:
    """The numbers of a comparison, without times."""
    ledger = found.ledger if hasattr(found, "ledger") else found.fits
    table = found.table.copy()
    told = {"table": table, "ledger": ledger, "summary": found.summary(), "ranks": found.ranks(), "failures": found.failures()}
    told["values"] = {" ".join(map(str, key)): values for key, values in found.values.items()}
    metrics = dict.fromkeys(key[3] for key in found.values)
    told["tests"] = {metric: found.tests(metric) for metric in metrics}
    return numbers(told)


def _digits() -> dict[str, Any]:
    import lexplain as lx
    from lexplain.baselines import BASELINES

    data = lx.load_data("sp_digits", rows=60, seed=3)
    fit = lx.Explainer("sufficient", epochs=3, batch_size=60, device="cpu")
    explainers = {"sufficient": fit, "random": BASELINES["random"]()}
    with short():
        return said(lx.compare(explainers, data, ("eACC", "encoding", "TPR", "Kept", "acc"), seeds=1, keep=6, rows=30, **_steps()))
