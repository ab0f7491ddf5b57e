"""Explainers against each other."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import check
from ..baselines import BASELINES
from ..core import Dataset, ExplainerFace
from ..core.contracts import Model
from ..core.kinds import features_for
from ..data import load_data
from ..explainers import Explainer
from ..measures import COMPARED, MEASURES, Measure, find_measures
from ..methods import METHODS
from .cell import Contest, compute, shares
from .comparison import Comparison, comparison_of
from .scenario import Scenario
from .store import run_cells

REVISION = 1  # of what cells hold: raised when their numbers change


def compare(
    explainers: str | Sequence[str] | Mapping[str, Any],
    data: str | Dataset | Sequence[str | Dataset],
    measures: Sequence[str | Measure] | None = None,
    seeds: int | Sequence[int] = 3,
    *,
    model: Any = None,
    keep: int | Mapping[str, int] | None = None,
    rows: int | None = None,
    store: str | Path | None = None,
    recompute: bool = False,
    workers: int = 1,
    evaluator_steps: int | None = None,
    network_steps: int | None = None,
) -> Comparison:
    """Fit explainers to data sets with several seeds, and judge all of them alike.

    The judge of a data set and a seed is one for all: EVAL-X, which learns from the training rows and knows no explainer. Explainers
    that can, learn from labels; those that need a model explain a network of ours that learned the same labels (column `explains`).
    Ctrl-C returns what is finished.

    Args:
        explainers: names of methods or baselines ("default", "realx", "shap", ...); or name -> an `Explainer` or a baseline with settings
            of its own, of which a copy is fitted for each seed.
        data: data sets; a name is loaded anew with each seed.
        measures: keys, labels or families of `lexplain.auditing.MEASURES`, the measures of an audit, or measures of your own; None:
            accuracy from what is kept, by itself and by EVAL-X, encoding, the number kept, and the truth where it is known. A measure that
            lacks what it needs, such as the truth, is left out.
        seeds: how many, or which.
        model: explained by all explainers, and the target of all judges; None: labels, as above.
        keep: how many features baselines and methods of a fixed number keep, and all others too where it is given; or data set -> how
            many. None: as many as really decide (the most of any row), else half. An explainer with a size of its own keeps that.
        rows: most test rows that each explains; None: all, but 200 for shap and lime, which fit a model to each. Encoding is then
            measured where they explain 1,000 training rows too.
        store: a folder for finished cells and judges; the same call goes on with what is missing. Failures are tried again.
        recompute: compute cells of the folder again that are of an earlier revision; False: they are taken, and `Comparison.stale_cells`
            names them.
        workers: processes.
        evaluator_steps: optimiser steps of the judge; None: 4,000.
        network_steps: optimiser steps of the network that is explained where no model is given; None: 2,000.

    Example:
        >>> import lexplain as lx
        >>> data = lx.load_data("s1", rows=60)
        >>> lx.compare(["random", "all"], data, ["TPR", "Kept"], seeds=1, keep=3).summary()["Kept"].tolist()
        [3.0, 11.0]
    """
    check.counts(rows=rows, workers=workers, judge_steps=evaluator_steps, network_steps=network_steps)
    _refuse_unpicklable(model, workers)
    measures = tuple(find_measures(COMPARED if measures is None else measures, MEASURES))
    named = _explainers(explainers)
    scenes = _scenes(data, seeds, model, evaluator_steps, network_steps)
    for label in keep if isinstance(keep, Mapping) else ():
        check.one_of(label, list({scene.label for scene in scenes}), "data set of this comparison")
    cells = [
        Contest(_prepared(explainer, scene, keep), scene, measures, rows).cell(name)
        for scene in scenes
        for name, explainer in named.items()
    ]
    with tempfile.TemporaryDirectory() as spare:
        folder = Path(spare if store is None else store)
        work, shared = partial(compute, folder=folder), partial(shares, folder=folder)
        done = run_cells(cells, work, folder, revision=REVISION, workers=workers, recompute=recompute, shares=shared)
        return comparison_of(done, measures)


# ---- what was asked for ----


def _refuse_unpicklable(model: Model, workers: int) -> None:
    """Refuse to hand a model to other processes that cannot be handed over."""
    if workers > 1:
        try:
            pickle.dumps(model)
        except Exception as stays:  # what pickle raises depends on what it meets
            raise TypeError(f"the model cannot be sent to other processes ({stays}); use workers=1, or a function of a module") from stays


def _explainers(given: str | Sequence[str] | Mapping[str, Any]) -> dict[str, ExplainerFace]:
    names = [given] if isinstance(given, str) else given
    chosen = names if isinstance(names, Mapping) else {name: name for name in names}
    made: dict[str, ExplainerFace] = {}
    for name, each in chosen.items():
        if isinstance(each, str):
            check.one_of(each, ["default", *METHODS, *BASELINES], "explainer")
            made[name] = BASELINES[each]() if each in BASELINES else Explainer(each)
        else:
            if isinstance(each, type) or not hasattr(each, "prepared"):
                needed = "a name, an Explainer or a baseline with its settings, such as Explainer('l2x', keep=5)"
                raise TypeError(f"{each!r} is a {type(each).__name__}, but {needed}, is needed")
            made[str(name)] = each
    return made


def _scenes(
    data: str | Dataset | Sequence[str | Dataset],
    seeds: int | Sequence[int],
    model: Model,
    judge_steps: int | None,
    network_steps: int | None,
) -> list[Scenario]:
    given = [data] if isinstance(data, (str, Dataset)) else list(data)
    every = list(range(seeds)) if isinstance(seeds, (int, np.integer)) else [int(seed) for seed in seeds]
    if not every or len(set(every)) < len(every):
        raise ValueError(f"seeds={seeds!r}, but how many (at least 1), or different whole numbers, are needed")
    labels: list[str] = []
    for each in given:  # data sets of one name, drawn in different ways, are told apart by their place
        name = each if isinstance(each, str) else each.name
        labels.append(name if name not in labels else f"{name} ({len(labels) + 1})")
    return [
        Scenario(label, load_data(each, seed=seed) if isinstance(each, str) else each, seed, model, judge_steps, network_steps)
        for label, each in zip(labels, given, strict=True)
        for seed in every
    ]


def _prepared(explainer: ExplainerFace, scene: Scenario, keep: int | Mapping[str, int] | None) -> ExplainerFace:
    """A copy with the seed of a scene, and its features and the number to keep unless it has its own."""
    asked = keep.get(scene.label) if isinstance(keep, Mapping) else keep
    size = None if asked is None else check.kept_features(asked, scene.features.count)
    features = scene.data.features if scene.data.features is not None else features_for(scene.data.train.x)
    truth = scene.data.train.truth
    most = None if truth is None else int(np.asarray(truth).sum(1).max())  # that decide in one row; if unknown, half of all are kept
    usual = partial(check.kept_features, most, scene.features.count)
    return explainer.prepared(seed=scene.seed, features=features, keep=size, size=usual)
