"""Real tables and a gradient-boosting black box: how few features each method needs to stay within five points."""

from __future__ import annotations

import time
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from torch import Tensor

from ..core import target_values
from ..core.splits import first_tenth
from ..data import load_data
from ..evaluation import Evaluators, Others
from ..experiments.cell import Cell
from ..experiments.scenario import Scenario
from ..explainers import Explainer
from ..masks import FixedRate
from ..measures.prediction import accuracy
from ..training import fabric_of
from .page import mark_of, mean_and_spread
from .table import Page, Results, Table, in_order, measure_means

SETS = ("breast_cancer", "german", "adult", "bank", "credit_default")
POINTS = 5.0  # of accuracy that an explanation may lose (REAL-X, section 6.1)
FEW = (1, 2, 3, 5)
PRICES = (0.05, 0.1, 0.2, 0.4)
STEPS = 1500  # optimiser steps of a rival's fit, half of what the default has
# What each rival is tried with; the default chooses on its own, in one fit.
SIZES: dict[str, tuple[str, tuple[float, ...]]] = {
    "l2x": ("keep", FEW),
    "lex": ("keep", FEW),
    "invase": ("penalty", PRICES),
    "basex": ("penalty", PRICES),
    "realx": ("penalty", PRICES),
}


def cells(quick: bool, seeds: int) -> list[Cell]:
    """Every table with every method; rivals first, since they fit once a size."""
    less: dict[str, Any] = {"epochs": 5, "sizes": 2} if quick else {}
    sets = SETS[:2] if quick else SETS
    return [Cell(data, method, method, seed, {}, less) for seed in range(seeds) for method in (*SIZES, "default") for data in sets]


def compute(cell: Cell, _folder: Path) -> dict[str, float]:
    """Fit, choose the sparsest explanation within the tolerance on validation rows, and judge it on test rows by another judge."""
    data = load_data(cell.data, seed=cell.seed)
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=cell.seed).fit(data.train.x, data.train.y)
    scene = Scenario(cell.label, data, cell.seed, model)
    began = time.monotonic()
    options: dict[str, Any] = {"epochs": cell.training.get("epochs"), "random_state": cell.seed}
    if cell.method in SIZES:
        name, sizes = SIZES[cell.method]
        options["epochs"] = options["epochs"] or ceil(STEPS / max(10, len(data.train) / 1000))
        tried = [
            Explainer(cell.method, **options | {name: size}).fit(data.train.x, model=model)
            for size in sizes[: cell.training.get("sizes", len(sizes))]
        ]
        explainer = choose(tried, scene)
    else:
        explainer = Explainer(tolerance_points=POINTS, **options).fit(data.train.x, model=model)
    seconds = time.monotonic() - began
    explanation, theirs = explainer.explain(data.test.x), explainer.explain(data.train.x)
    others = Others(scene.batch(data.train), lambda: (theirs.scores, theirs.mask))
    evaluation = scene.evaluation(explanation, _evaluators(scene, cell.seed + 2000), others)
    numbers = {"fit_seconds": seconds, **measure_means(evaluation, ("kept", "eacc", "acc", "encoding"))}
    full = float(accuracy(evaluation.predict_all(FixedRate), evaluation.labels).double().mean())
    return {**numbers, "FULL": full, "lost": full - numbers["eACC"]}


def _evaluators(scene: Scenario, seed: int) -> Evaluators:
    """EVAL-X of the model's output; one seed chooses on validation rows, another has the last word on test rows."""
    return replace(scene.evaluators(), seed=seed, split=first_tenth, fabric=fabric_of("auto"))


def choose(tried: list[Explainer], scene: Scenario) -> Explainer:
    """The sparsest explainer that is within the tolerance on validation rows, else the one that loses least."""
    judge, part = _evaluators(scene, scene.seed + 1000).of().cpu(), scene.data.validation
    rows = scene.batch(part)
    labels = target_values(rows.target).argmax(1)

    def right(mask: Tensor) -> float:
        return float(accuracy(judge.probabilities(rows.x, mask), labels).double().mean())

    masks = [explainer.explain(part.x).mask for explainer in tried]
    return tried[sparsest(masks, [right(mask) for mask in masks], right(torch.ones_like(masks[0])) - POINTS / 100)]


def sparsest(masks: list[Tensor], right: list[float], enough: float) -> int:
    """The place of the sparsest masks of those that are right often enough, else of those that are most often."""
    good = [place for place, value in enumerate(right) if value >= enough]
    if not good:
        return max(range(len(masks)), key=right.__getitem__)
    return min(good, key=lambda place: float(masks[place].double().sum()))


def page(results: Results) -> Page:
    """Features kept, and everything else."""
    frame = in_order(results.frame(percent=("eACC", "FULL", "lost", "ACC")), ["data", "label"], [*SETS, "default", *SIZES])
    columns = ["kept", "eACC", "FULL", "lost", "ACC", "encoding", "fit_seconds"]
    return Page(frame, [("Features kept a row", _kept(frame)), ("Everything", mean_and_spread(frame, ["data", "label"], columns))])


def _kept(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a table, one column a method: features kept, with a star where more than the tolerance is lost."""
    means = frame.groupby(["data", "label"], sort=False)[["kept", "lost"]].mean()
    marks = [mark_of(part) for _, part in frame.groupby(["data", "label"], sort=False)]
    lines = zip(means["kept"], means["lost"], marks, strict=True)
    text = [f"{count:.2f}" + ("*" if lost > POINTS else "") + mark for count, lost, mark in lines]
    return pd.Series(text, index=means.index).unstack(sort=False).reset_index()


TABLE = Table(
    "real-tables",
    "features needed to stay within five points of a gradient-boosting model, on five real tables and for six methods",
    "Real tables, a gradient-boosting black box: the fewest features within five points",
    "The black box is scikit-learn's HistGradientBoostingClassifier, fitted to the labels; what is explained is its output. eACC: how "
    "often an EVAL-X judge tells the model's class from what an explanation shows of a test row; FULL: from all features; lost: the "
    f"difference, in points. `default` is `lx.Explainer(tolerance_points={POINTS:g}).fit(X, model=model)`, one fit. Each rival is fitted "
    f"for each of {len(FEW)} sizes (l2x and lex: k of {', '.join(map(str, FEW))}; invase, basex and realx: lambda of "
    f"{', '.join(map(str, PRICES))}), with half of the default's optimiser steps each time; of those within "
    f"{POINTS:g} points on validation rows the sparsest is kept, or else the one that loses least. A star: more than {POINTS:g} points "
    "lost on the test rows. The default's own choice is made on parts of its training rows, with nine tenths of the tolerance, and up to "
    "three more rounds at the chosen price; rivals have validation rows of their own and the whole tolerance. ACC: by the method's own "
    "predictor. Encoding: nats that the choice of the mask tells beyond what it shows.",
    cells,
    compute,
    page,
)
