"""The default method with the same settings on all data sets with known ground truth."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd

from ..data import load_data
from ..experiments.cell import Cell
from ..experiments.scenario import Scenario
from ..explainers import Explainer
from .page import MARK, mean_and_spread
from .table import Page, Results, Table, measure_means

# Label of a line, its data set, and the options of `load_data`.
LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "S1": ("s1", {}),
    "S2": ("s2", {}),
    "S3": ("s3", {}),
    "S3, correlation 0.5": ("s3", {"correlation": 0.5}),
    "XOR": ("xor", {}),
    "orange skin": ("orange_skin", {}),
    "S3, real values": ("s3", {"target": "values"}),
    "S3, 89 noise columns": ("s3", {"noise_columns": 89}),
}
# With a given k: the four data sets of L2X, with k and the median rank of a perfect ranking.
RANKED = {"xor": (2, 1.5), "orange_skin": (4, 2.5), "nonlinear_additive": (4, 2.5), "switch": (5, 3.0)}
# The best published rows, for comparison: REAL-X (Jethani et al., 2021, table 1).
PUBLISHED = pd.DataFrame(
    [("S1", 98.4, 10.7, 100.0), ("S2", 96.7, 6.3, 100.0), ("S3", 93.5, 2.6, 100.0)], columns=["label", "TPR", "FDR", "CFSR"]
)


def cells(quick: bool, seeds: int) -> list[Cell]:
    """All fits: each line with the default budget; S1, S2 and S3 also with the thorough one; the data sets of L2X with a given k."""
    less: dict[str, Any] = {"rows": 1000} if quick else {}
    lines = dict(list(LINES.items())[:3]) if quick else LINES
    made = []
    for seed in range(seeds):
        made += [Cell(data, line, "default", seed, {}, {"draw": {**draw, **less}}) for line, (data, draw) in lines.items()]
        if not quick:
            made += [
                Cell(data, data, name, seed, {"keep": k}, {"draw": {}}) for name in ("default", "l2x") for data, (k, _) in RANKED.items()
            ]
            made += [
                Cell(LINES[line][0], line, "default", seed, {"budget": "thorough"}, {"draw": LINES[line][1]}) for line in ("S1", "S2", "S3")
            ]
    return made


def compute(cell: Cell, _folder: Path) -> dict[str, float]:
    """Fit from labels, explain the test rows, and compare with the ground truth."""
    scene = Scenario(cell.label, load_data(cell.data, seed=cell.seed, **cell.training["draw"]), cell.seed)
    began = time.monotonic()
    explainer = Explainer(cell.method, random_state=cell.seed, **cell.options).fit(scene.data.train.x, scene.data.train.y)
    seconds = time.monotonic() - began
    explanation = explainer.explain(scene.data.test.x)
    means = measure_means(scene.evaluation(explanation, scene.evaluators()), ("tpr", "fdr", "kept", "median_rank", "cfsr"))
    if explainer.path_ is not None:
        point = explainer.path_[explainer.path_["chosen"]].iloc[0]
        means |= {"price": float(point["price"]), "cost": float(point["cost"])}
    return {**means, "fit_seconds": seconds}


def page(results: Results) -> Page:
    """The lines, and the best published ones."""
    percent = ("TPR", "FDR", "CFSR")
    frame = results.frame(percent=percent)
    frame["budget"] = [options.get("budget", "default") for options in frame["options"]]
    has_size = frame["label"].isin(list(RANKED))
    columns = [*(name for name in percent if name in frame), "kept", "price", "cost", "fit_seconds"]
    sections = [
        ("Without keep", mean_and_spread(frame[~has_size], ["label", "budget"], columns)),
        ("Best published rows (REAL-X)", PUBLISHED),
    ]
    if has_size.any():
        ranks = mean_and_spread(frame[has_size], ["label", "method"], ["median rank", "TPR", "fit_seconds"])
        ranks["best possible median rank"] = [RANKED[label.removesuffix(MARK)][1] for label in ranks["label"]]
        sections.append(("With a given k, on the data sets of L2X, and L2X with the same number of steps", ranks))
    return Page(frame, sections)


TABLE = Table(
    "default",
    "the default method on S1-S3, with noise columns, correlation and real values, and on the sets of L2X",
    "The default method, from labels, on data with known ground truth",
    "`lx.Explainer().fit(X, y)` on 10,000 rows, with the same call for all lines. The masks of 10,000 test rows are compared with the "
    "ground truth, in percent. Price: cost in nats of keeping one feature. Cost: average change of the predictions, in nats, when hidden "
    "features are resampled. Seconds are those of parallel processes with one thread each.",
    cells,
    compute,
    page,
    revision=2,
)
