"""LEX, Figure 3: selection quality against the number of features kept, for several imputations."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from ..experiments.cell import Cell
from .page import mean_and_spread
from .synthetic import compute
from .table import Drawn, Page, Results, Table

SETS = ("s1", "s2", "s3")
KEPT = (2, 3, 4, 5, 6, 7, 8, 9)
TRAINING: dict[str, Any] = {"epochs": 150, "learning_rate": 1e-3}
GAUSSIAN: tuple[str, dict[str, Any]] = ("IndependentGaussian", {})
ZERO = ("Constant", {"value": 0.0})
INSIDE = ("Likelihood", {"masks": 1, "imputations": 4})
OUTSIDE = ("Likelihood", {"masks": 1, "imputations": 4, "imputations_inside": False})
# Surrogate zero, the imputation of REAL-X: the predictor is trained on random masks instead of the selector's.
LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "Gaussian, inside the log": ("lex", {"imputer": GAUSSIAN, "objective": INSIDE}),
    "Gaussian, outside the log": ("lex", {"imputer": GAUSSIAN, "objective": OUTSIDE}),
    "zero": ("lex", {"imputer": ZERO, "objective": ("Likelihood", {"masks": 4})}),
    "surrogate zero": ("lex", {"imputer": ZERO, "objective": ("Likelihood", {"masks": 4}), "surrogate": True}),
}


def cells(quick: bool, seeds: int) -> list[Cell]:
    """All points of the figure."""
    kept = (4, 5, 6) if quick else KEPT  # around the true number on S3, which comes first
    sets = ("s3",) if quick else SETS
    return [
        Cell(data, line, method, seed, {**options, "keep": k}, TRAINING)
        for seed in range(seeds)
        for data in sets
        for k in sorted(kept, key=lambda k: abs(k - 5))
        for line, (method, options) in LINES.items()
    ]


def page(results: Results) -> Page:
    """The curves, and the table at the true number of features."""
    frame = results.frame(percent=("CFSR", "TPR", "FDR", "ACC", "eACC"))
    frame["k"] = [options["keep"] for options in frame["options"]]
    frame = frame.sort_values(["data", "label", "k"], kind="stable")
    columns = ["TPR", "FDR", "CFSR", "ACC", "AUROC", "eACC", "eAUROC", "fit_seconds"]
    at_truth = frame[frame["k"] == 5]
    sections = [
        ("At five features (the true number on S3)", mean_and_spread(at_truth, ["data", "label"], columns)),
        ("The authors' released code, S3, k = 5, one seed", AUTHORS_CODE),
        ("All numbers of features", mean_and_spread(frame, ["data", "label", "k"], columns)),
    ]
    parts = [(metric, data, part) for metric in ("TPR", "FDR", "eACC") for data, part in frame.groupby("data")]
    return Page(frame, sections, {f"{data}-{metric}": partial(_figure, part, metric) for metric, data, part in parts})


AUTHORS_CODE = pd.DataFrame(
    [("Gaussian, 10 masks", 76, 24, 93), ("zero, 10 masks", 64, 36, 87), ("surrogate zero (Bernoulli, L1)", 67, 6, 100)],
    columns=["label", "TPR", "FDR", "CFSR"],
)


def _figure(frame: pd.DataFrame, metric: str) -> Drawn:
    from ..report import sweep

    groups = frame.groupby(["label", "k"])[metric]
    table = pd.DataFrame({metric: groups.mean(), "spread": groups.std().fillna(0)}).reset_index()
    table["low"], table["high"] = table[metric] - table["spread"], table[metric] + table["spread"]
    return sweep(table, x="k", y=metric, by="label", low="low", high="high")


TABLE = Table(
    "lex-figure3",
    "LEX, figure 3: zero, surrogate zero and Gaussian imputation over selection rates on S1-S3",
    "LEX, figure 3: imputations over selection rates on S1, S2 and S3",
    "From labels (regime free), with masks of exactly k of 11 features and straight-through gradients. The paper has curves but no table. "
    "It finds that Gaussian imputation, which is the true conditional distribution here, selects the true features best when k reaches "
    "their number. Gaussian lines use one mask and four imputations per row, averaged inside or outside the log; zero lines use four masks "
    "inside the log. Bands in the figures are one standard deviation over seeds on each side of the mean.",
    cells,
    compute,
    page,
)
