"""The tables and figures of "Right for the right reasons", each a name of `lexplain reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import rrr
from .cells import Cell
from .tables import mean_and_spread

PAPER = "Ross, Hughes and Doshi-Velez, 2017"
COLOURS, DECOY, IRIS, NEWS, SWEEP = "rrr-colours", "rrr-decoy", "rrr-iris-cancer", "rrr-newsgroups", "rrr-lambda-sweep"


def colours(*, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Forbid either rule, both, or none; and find both rules without annotation."""
    less = {"epochs": 20, "rows": 5000} if quick else rrr.TRAINING
    labels = ("plain", "no corners", "no top", "neither")
    fits = [Cell("colours", label, "right reasons", seed, {}, less) for seed in range(seeds) for label in labels]
    frame = rrr.run(COLOURS, fits, rrr.compute_fit, quick=quick, out=out, workers=workers)
    found = _search(COLOURS, "colours", less, quick=quick, seeds=seeds, out=out, workers=workers)
    published = pd.DataFrame(
        [("plain", 100, "corners"), ("no corners", 100, "top"), ("no top", 100, "corners"), ("neither (1e6)", 54, "noise")],
        columns=["label", "test", "rule"],
    )
    return rrr.result(
        COLOURS,
        frame,
        ["label"],
        ["train", "test", "in corners", "in top", "strength", "fit_seconds"],
        quick=quick,
        seeds=seeds,
        out=out,
        title="Right for the right reasons: toy colours",
        notes="Two rules tell the class, each by itself; an annotation that forbids one moves the network to the other. `in corners` and "
        "`in top` are shares of the large input gradients of test rows. The strength is found by the trainer itself.",
        sections=[("Models found one after the other, without annotation", found), (f"Published ({PAPER})", published)],
        figures={"models": rrr.search_figure(Cell("colours", "search", "find another", 0, {}, less), (5, 5, 3))},
    )


def _search(name: str, data: str, training: Any, *, quick: bool, seeds: int, out: Path, workers: int) -> pd.DataFrame:
    """Three models found without annotation, mean over seeds."""
    cells = [Cell(data, "search", "find another", seed, {}, training) for seed in range(seeds)]
    frame = rrr.run(name, cells, rrr.compute_search, quick=quick, out=out, workers=workers)
    lines = []
    for place in (1, 2, 3):
        shares = [column for column in map(str, frame) if column.startswith("in ") and column.endswith(f" {place}")]
        columns = [f"held out {place}", f"test {place}", *shares]
        there = [column for column in columns if column in frame]
        lines.append({"model": place} | {column.removesuffix(f" {place}"): f"{100 * frame[column].mean():.1f}" for column in there})
    return pd.DataFrame(lines).fillna("").assign(diversity=f"{frame['diversity'].mean():.3f}")


def decoy(*, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Decoy MNIST with and without annotation, and found without; small digits where it is quick."""
    data, less = ("decoy_digits", {"epochs": 100}) if quick else ("decoy_mnist", rrr.TRAINING)
    fits = [Cell(data, label, "right reasons", seed, {}, less) for seed in range(seeds) for label in ("plain", "annotated")]
    frame = rrr.run(DECOY, fits, rrr.compute_fit, quick=quick, out=out, workers=workers)
    found = _search(DECOY, data, less, quick=quick, seeds=seeds, out=out, workers=workers)
    chosen = _selections(quick=quick, seeds=seeds, out=out, workers=workers)
    published = pd.DataFrame([("plain", 99.7, 51.6), ("annotated, 1000", 98.2, 96.1)], columns=["label", "train", "test"])
    return rrr.result(
        DECOY,
        frame,
        ["data", "label"],
        ["train", "test", "in confound", "strength", "fit_seconds"],
        quick=quick,
        seeds=seeds,
        out=out,
        title="Right for the right reasons: digits with a decoy",
        notes="A swatch in a corner tells the class in training and nothing in the test. `in confound`: share of the large input gradients "
        "of test rows that lies on the swatch. The strength is found by the trainer itself, from the training rows.",
        sections=[
            ("Models found one after the other, without annotation", found),
            ("Selections instead of slopes: L2X on decoy digits, 12 pixels, charged for marked ones", chosen),
            (f"Published ({PAPER})", published),
        ],
        figures={"models": rrr.search_figure(Cell(data, "search", "find another", 0, {}, less), (8, 8) if quick else (28, 28))},
    )


def _selections(*, quick: bool, seeds: int, out: Path, workers: int) -> pd.DataFrame:
    """An amortized explainer with and without a price on marked features."""
    training = {"epochs": 60 if quick else 300}
    prices = {"plain": 0.0, "annotated": 3.0}
    cells = [
        Cell("decoy_digits", f"l2x, {label}", "l2x", seed, {"keep": 12, "price": price}, training)
        for seed in range(seeds)
        for label, price in prices.items()
    ]
    frame = rrr.run(DECOY, cells, rrr.compute_selection, quick=quick, out=out, workers=workers)
    columns = ["train", "test", "in confound"]
    frame[columns] *= 100
    return mean_and_spread(frame, ["label"], columns)


def iris_cancer(*, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Irises beside tumours: accuracy with and without the irises at test time, over random splits."""
    splits = 10 if quick else rrr.SPLITS
    cells = [
        Cell("iris_cancer", label + suffix, "right reasons", split, options, rrr.IRIS_TRAINING)
        for suffix, options in (("", {}), (", standardised", {"standardised": True}))
        for split in range(splits)
        for label in ("plain", "annotated")
    ]
    frame = rrr.run(IRIS, cells, rrr.compute_iris, quick=quick, out=out, workers=workers)
    found = _search(IRIS, "iris_cancer", rrr.IRIS_TRAINING, quick=quick, seeds=splits, out=out, workers=workers)
    published = pd.DataFrame([("plain", 91.5, 81.1)], columns=["label", "with iris", "without"])
    return rrr.result(
        IRIS,
        frame,
        ["label"],
        ["train", "with iris", "without", "in iris", "strength"],
        quick=quick,
        seeds=seeds,
        out=out,
        title="Right for the right reasons: irises beside tumours",
        notes=f"Means over {splits} random splits of 100 rows, 67 to train on; the numbers under seeds are splits. `without`: the iris "
        "columns are 0 in the test rows. Inputs are raw as in the paper, or standardised by the training rows.",
        sections=[("Models found one after the other, without annotation", found), (f"Published ({PAPER})", published)],
        figures={"models": rrr.search_figure(Cell("iris_cancer", "search", "find another", 0, {}, rrr.IRIS_TRAINING), None)},
    )


def newsgroups(*, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Atheists and Christians: three models that are right for different words."""
    training = {"epochs": 5 if quick else 20}
    found = _search(NEWS, "newsgroups", training, quick=quick, seeds=seeds, out=out, workers=workers)
    cells = [Cell("newsgroups", "search", "find another", seed, {}, training) for seed in range(seeds)]
    frame = rrr.run(NEWS, cells, rrr.compute_search, quick=quick, out=out, workers=workers)
    return rrr.result(
        NEWS,
        frame,
        ["data"],
        ["held out 1", "test 1", "diversity"],
        quick=quick,
        seeds=seeds,
        out=out,
        title="Right for different reasons: two newsgroups",
        notes=f"Weights of 5,000 words. Published ({PAPER}): one model, 94.7 % of the test posts.",
        sections=[
            ("Models found one after the other", found),
            ("Words of the post with a large slope, those of most test posts first (seed 0)", _words(cells[0])),
        ],
        figures={},
    )


def _words(cell: Cell, most: int = 12) -> pd.DataFrame:
    """The words that stand in most test posts with a large slope, for each model of a search."""
    data, found = rrr.search(cell)
    names = np.array(data.frame(data.test).columns)
    counts = [(model.explain(data.test.x).mask.numpy() & (data.test.x != 0)).sum(0) for model in found.models]
    lines = [", ".join(names[np.argsort(-count, kind="stable")[:most]]) for count in counts]
    return pd.DataFrame({"model": range(1, len(lines) + 1), "words": lines})


def lambda_sweep(*, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Strengths over ten decades beside the one that the trainer finds."""
    data, less = ("decoy_digits", {"epochs": 100}) if quick else ("decoy_mnist", rrr.TRAINING)
    strengths: list[Any] = ["auto", *rrr.SWEEP]
    cells = [Cell(data, "annotated", "right reasons", seed, {"strength": s}, less) for seed in range(seeds) for s in strengths]
    frame = rrr.run(SWEEP, cells, rrr.compute_fit, quick=quick, out=out, workers=workers)
    frame["asked"] = [str(options["strength"]) for options in frame["options"]]
    return rrr.result(
        SWEEP,
        frame,
        ["data", "asked"],
        ["train", "test", "in confound", "strength"],
        quick=quick,
        seeds=seeds,
        out=out,
        title="Right for the right reasons: the strength, over ten decades and found by itself",
        notes="Our strength multiplies the mean squared slope along marked inputs, which are from 0 to 1: the paper's lambda_1, for sums "
        "over 16 marks and inputs from 0 to 255, is ours times 255^2 / 16, about 4,000. Published test accuracy for lambda_1 = 1e-4, 0.1, "
        "1, 10, 100, 1e3, 1e4, 1e5 and 1e6: 56, 66, 84, 94, 96.0, 96.0, 95.1, 89 and 52 %.",
        figures={"sweep": _sweep_figure(frame)},
    )


def _sweep_figure(frame: pd.DataFrame) -> Any:
    from ..report import sweep

    fixed = frame[frame["asked"] != "auto"].assign(power=lambda part: np.log10(part["asked"].astype(float)), label="fixed strength")
    found = frame[frame["asked"] == "auto"].assign(power=lambda part: np.log10(part["strength"]), label="found by the trainer")
    means = [part.groupby("power" if name == "fixed" else "label")["test"].mean() for name, part in (("fixed", fixed), ("auto", found))]
    line = pd.DataFrame({"log10 of the strength": means[0].index, "test accuracy": means[0].to_numpy(), "label": "fixed strength"})
    point = {"log10 of the strength": [found["power"].mean()], "test accuracy": [means[1].iloc[0]], "label": ["found by the trainer"]}
    return sweep(pd.concat([line, pd.DataFrame(point)]), x="log10 of the strength", y="test accuracy", by="label")
