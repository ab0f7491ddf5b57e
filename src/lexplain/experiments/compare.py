"""`compare`: fit and evaluate several explainers."""

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

REVISION = 2  # raised when the numbers of cells change


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
    """Fit explainers on data sets with several seeds and evaluate them in the same way.

    One EVAL-X per data set and seed evaluates all explainers. It is a network trained on random subsets of features of the training rows.
    Without `model`, explainers that need a model explain a small network trained on the labels. Ctrl-C returns the results so far.

    Args:
        explainers: Names ("default", "realx", "shap", ...), or a dict from name to an `Explainer` or baseline, which is cloned per seed.
        data: Data sets or their names. A name is loaded once per seed.
        measures: Measures by key ("eacc"), label ("eACC") or family ("fidelity": several measures), as in `audit`; or `Measure`
            objects. None: own accuracy, accuracy of EVAL-X, encoding, features kept, and agreement with the ground truth. Measures that
            cannot be computed, for example without ground truth, are left out.
        seeds: Number of seeds, or the seeds.
        model: Model that all explainers explain; its outputs then replace the labels. None: y, or a small network where a model is needed.
        keep: Number of features to keep, or a dict from data set to number. Explainers with their own keep or penalty ignore it. None:
            explainers that need a number keep the number of true features if it is known, otherwise half of all features.
        rows: Maximum number of test rows per explainer. None: all; 200 for shap and lime. For these two, `rows` also limits the
            training rows that are explained for the encoding test. With fewer than 1,000 of them, unless these are all, the test
            is left out: pass rows=1000.
        store: Folder for finished results and evaluators; the same call resumes and retries failures.
        recompute: Recompute results stored by other code versions. False: use them; `Comparison.stale_cells` lists them.
        workers: Number of processes.
        evaluator_steps: Optimiser steps of the evaluator. None: 4,000.
        network_steps: Optimiser steps of the network that is explained if `model` is None. None: 2,000.

    Example:
        >>> import lexplain as lx
        >>> data = lx.load_data("s1", rows=60)
        >>> lx.compare(["random", "all"], data, ["TPR", "Kept"], seeds=1, keep=3).summary()["Kept"].tolist()
        [3.0, 11.0]
    """
    check.counts(rows=rows, workers=workers, evaluator_steps=evaluator_steps, network_steps=network_steps)
    _check_picklable(model, workers)
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


# ---- arguments ----


def _check_picklable(model: Model, workers: int) -> None:
    """Raise if the model cannot be sent to other processes."""
    if workers > 1:
        try:
            pickle.dumps(model)
        except Exception as failure:  # pickle raises many types of errors
            raise TypeError(f"model cannot be sent to other processes ({failure}). Use workers=1, or a function of a module.") from failure


def _explainers(value: str | Sequence[str] | Mapping[str, Any]) -> dict[str, ExplainerFace]:
    names = [value] if isinstance(value, str) else value
    by_name = names if isinstance(names, Mapping) else {name: name for name in names}
    result: dict[str, ExplainerFace] = {}
    for name, each in by_name.items():
        if isinstance(each, str):
            check.one_of(each, ["default", *METHODS, *BASELINES], "explainer")
            result[name] = BASELINES[each]() if each in BASELINES else Explainer(each)
        else:
            if isinstance(each, type) or not hasattr(each, "prepared"):
                allowed = "a name, an Explainer or a baseline with its settings, such as Explainer('l2x', keep=5)"
                raise TypeError(f"Each explainer must be {allowed}, got {each!r} (a {type(each).__name__}).")
            result[str(name)] = each
    return result


def _scenes(
    data: str | Dataset | Sequence[str | Dataset],
    seeds: int | Sequence[int],
    model: Model,
    evaluator_steps: int | None,
    network_steps: int | None,
) -> list[Scenario]:
    datasets = [data] if isinstance(data, (str, Dataset)) else list(data)
    all_seeds = list(range(seeds)) if isinstance(seeds, (int, np.integer)) else [int(seed) for seed in seeds]
    if not all_seeds or len(set(all_seeds)) < len(all_seeds):
        raise ValueError(f"seeds must be a number of seeds (at least 1) or different integers, got {seeds!r}.")
    labels: list[str] = []
    for each in datasets:  # several data sets with one name get their position as a suffix
        name = each if isinstance(each, str) else each.name
        labels.append(name if name not in labels else f"{name} ({len(labels) + 1})")
    return [
        Scenario(label, load_data(each, seed=seed) if isinstance(each, str) else each, seed, model, evaluator_steps, network_steps)
        for label, each in zip(labels, datasets, strict=True)
        for seed in all_seeds
    ]


def _prepared(explainer: ExplainerFace, scene: Scenario, keep: int | Mapping[str, int] | None) -> ExplainerFace:
    """A copy with the seed of a scenario, and its features and number of features to keep unless the explainer sets its own."""
    requested = keep.get(scene.label) if isinstance(keep, Mapping) else keep
    size = None if requested is None else check.kept_features(requested, scene.features.count)
    features = scene.data.features if scene.data.features is not None else features_for(scene.data.train.x)
    truth = scene.data.train.truth
    largest = None if truth is None else int(np.asarray(truth).sum(1).max())  # number of true features of a row; None: keep half
    default = partial(check.kept_features, largest, scene.features.count)
    return explainer.prepared(seed=scene.seed, features=features, keep=size, size=default)
