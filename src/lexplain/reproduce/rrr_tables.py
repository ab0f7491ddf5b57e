"""The tables and figures of "Right for the right reasons"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..experiments.cell import Cell
from . import rrr
from .page import mark_of, mean_and_spread
from .table import Drawn, Page, Results, Table

PAPER = "Ross, Hughes and Doshi-Velez, 2017"
SPEED_SETS = ("iris_cancer", "colours", "decoy_digits", "newsgroups", "decoy_mnist")
FOUND = "Models found one after the other, without annotation"
PERCENT = ("train", "test", "with iris", "without", "in corners", "in top", "in confound", "in iris", "held out 1", "test 1")


def fitted(results: Results, by: Sequence[str], columns: Sequence[str], method: str = "right reasons") -> tuple[pd.DataFrame, pd.DataFrame]:
    """The finished fits and their means over seeds, with accuracies and shares in percent."""
    frame = results.frame((cell for cell in results.cells if cell.method == method), percent=PERCENT)
    return frame, mean_and_spread(frame, by, columns)


def searches(data: str, training: dict[str, Any], seeds: int) -> list[Cell]:
    """Searches of three models without annotation, for each seed."""
    return [Cell(data, "search", "find another", seed, {}, training) for seed in range(seeds)]


def found_of(results: Results) -> list[Cell]:
    """The searches of a page, without the cells of words."""
    return [cell for cell in results.cells if cell.label == "search"]


def _models(results: Results) -> pd.DataFrame:
    """The accuracy of the models of searches, as means over seeds."""
    frame, lines = results.frame(found_of(results)), []
    for place in (1, 2, 3):
        shares = [column for column in map(str, frame) if column.startswith("in ") and column.endswith(f" {place}")]
        columns = [f"held out {place}", f"test {place}", *shares]
        names = {column: column.removesuffix(f" {place}") for column in columns if column in frame}
        lines.append({"model": f"{place}{mark_of(frame)}"} | {name: f"{100 * frame[column].mean():.1f}" for column, name in names.items()})
    return pd.DataFrame(lines).fillna("").assign(diversity=f"{frame['diversity'].mean():.3f}")


# ---- colours ----


def colour_cells(quick: bool, seeds: int) -> list[Cell]:
    """Fits that forbid either rule, both, or none, and searches that find both rules without annotation."""
    less = {"epochs": 20, "rows": 5000} if quick else rrr.TRAINING
    labels = ("plain", "no corners", "no top", "neither")
    fits = [Cell("colours", label, "right reasons", seed, {}, less) for seed in range(seeds) for label in labels]
    return fits + searches("colours", less, seeds)


def colour_page(results: Results) -> Page:
    """The effect of annotations, and the models found without them."""
    frame, means = fitted(results, ["label"], ["train", "test", "in corners", "in top", "strength", "fit_seconds"])
    lines = [("plain", 100, "corners"), ("no corners", 100, "top"), ("no top", 100, "corners"), ("neither (1e6)", 54, "noise")]
    published = pd.DataFrame(lines, columns=["label", "test", "rule"])
    sections = [("Means over seeds", means), (FOUND, _models(results)), (f"Published ({PAPER})", published)]
    return Page(frame, sections, {"models": lambda: rrr.search_figure(found_of(results)[0], (5, 5, 3))})


# ---- decoys ----


def decoy_cells(quick: bool, seeds: int) -> list[Cell]:
    """Decoy MNIST (small digits if quick): with and without annotation, searches, and selections."""
    data, less = ("decoy_digits", {"epochs": 100}) if quick else ("decoy_mnist", rrr.TRAINING)
    fits = [Cell(data, label, "right reasons", seed, {}, less) for seed in range(seeds) for label in ("plain", "annotated")]
    training, prices = {"epochs": 60 if quick else 300}, {"plain": 0.0, "annotated": 3.0}
    selections = [  # a selector with and without a cost on marked features
        Cell("decoy_digits", f"l2x, {label}", "l2x", seed, {"keep": 12, "price": price}, training)
        for seed in range(seeds)
        for label, price in prices.items()
    ]
    return fits + searches(data, less, seeds) + selections


def decoy_page(results: Results) -> Page:
    """The effect of annotations, the models found without them, and selections."""
    frame, means = fitted(results, ["data", "label"], ["train", "test", "in confound", "strength", "fit_seconds"])
    _, chosen = fitted(results, ["label"], ["train", "test", "in confound"], "l2x")
    published = pd.DataFrame([("plain", 99.7, 51.6), ("annotated, 1000", 98.2, 96.1)], columns=["label", "train", "test"])
    sections = [
        ("Means over seeds", means),
        (FOUND, _models(results)),
        ("Selections instead of input gradients: L2X on decoy digits, 12 pixels, with a cost on marked ones", chosen),
        (f"Published ({PAPER})", published),
    ]
    return Page(frame, sections, {"models": lambda: rrr.search_figure(found_of(results)[0], (8, 8) if results.run.quick else (28, 28))})


# ---- iris and breast cancer ----


def iris_cells(quick: bool, seeds: int) -> list[Cell]:  # noqa: ARG001  splits are repeated instead
    """Accuracy with and without the iris columns in test rows, over random splits."""
    splits = 10 if quick else rrr.SPLITS
    fits = [
        Cell("iris_cancer", label + suffix, "right reasons", split, options, rrr.IRIS_TRAINING)
        for suffix, options in (("", {}), (", standardised", {"standardised": True}))
        for split in range(splits)
        for label in ("plain", "annotated")
    ]
    return fits + searches("iris_cancer", rrr.IRIS_TRAINING, splits)


def iris_page(results: Results) -> Page:
    """The effect of annotations on the accuracy without the iris columns."""
    frame, means = fitted(results, ["label"], ["train", "with iris", "without", "in iris", "strength"])
    published = pd.DataFrame([("plain", 91.5, 81.1)], columns=["label", "with iris", "without"])
    splits = 10 if results.run.quick else rrr.SPLITS
    return Page(
        frame,
        [("Means over seeds", means), (FOUND, _models(results)), (f"Published ({PAPER})", published)],
        {"models": lambda: rrr.search_figure(found_of(results)[0], None)},
        "Each row joins the columns of an iris and of a breast cancer patient of the same class. Numbers are means over "
        f"{splits} random splits of 100 rows into 67 training and 33 test rows; the column seeds counts splits. `without`: the iris "
        "columns are 0 in the test rows. Inputs are raw, as in the paper, or standardised by the training rows.",
    )


# ---- newsgroups ----


def news_cells(quick: bool, seeds: int) -> list[Cell]:
    """Posts about atheism and Christianity: three models that are right for different words."""
    training = {"epochs": 5 if quick else 20}
    return [*searches("newsgroups", training, seeds), Cell("newsgroups", "words", "find another", 0, {}, training)]


def news_page(results: Results) -> Page:
    """The accuracy of the models of searches, and their words."""
    searched = results.frame(found_of(results), percent=("held out 1", "test 1"))
    named = results.frame(cell for cell in results.cells if cell.label == "words")
    words = [str(named[name].iloc[0]) for name in named if str(name).startswith("words ")]
    models = [f"{place}{mark_of(named)}" for place in range(1, len(words) + 1)]
    sections = [
        ("Means over seeds", mean_and_spread(searched, ["data"], ["held out 1", "test 1", "diversity"])),
        ("Models found one after the other", _models(results)),
        ("Words with a large input gradient, in most test posts first (seed 0)", pd.DataFrame({"model": models, "words": words})),
    ]
    return Page(searched, sections)


# ---- the strength ----


def sweep_cells(quick: bool, seeds: int) -> list[Cell]:
    """Strengths over ten decades, and the one that the trainer finds."""
    data, less = ("decoy_digits", {"epochs": 100}) if quick else ("decoy_mnist", rrr.TRAINING)
    strengths: list[str | float] = ["auto", *rrr.SWEEP]
    return [Cell(data, "annotated", "right reasons", seed, {"strength": s}, less) for seed in range(seeds) for s in strengths]


def sweep_page(results: Results) -> Page:
    """Accuracy over the strength."""
    columns = ["train", "test", "in confound", "strength"]
    frame = results.frame(percent=columns[:-1])
    frame["asked"] = [str(options["strength"]) for options in frame["options"]]
    means = mean_and_spread(frame.rename(columns={"asked": "requested strength"}), ["data", "requested strength"], columns)
    return Page(frame, [("Means over seeds", means)], {"sweep": lambda: _sweep_figure(frame)})


def _sweep_figure(frame: pd.DataFrame) -> Drawn:
    from ..report import sweep

    x, y, auto = "log10 of the strength", "test accuracy", frame["asked"] == "auto"
    points = frame.assign(label=np.where(auto, "found by the trainer", "fixed strength")).rename(columns={"test": y})
    points[x] = np.log10(points["strength"].where(auto, points["asked"].replace("auto", "nan").astype(float)))
    means = points[~auto].groupby(["label", x], as_index=False)[y].mean()
    return sweep(pd.concat([means, points[auto].groupby("label", as_index=False)[[x, y]].mean()]), x=x, y=y, by="label")


# ---- speed ----


def speed_cells(quick: bool, seeds: int) -> list[Cell]:
    """The time of explanations by input gradients and by LIME."""
    sets, labels = SPEED_SETS[:1] if quick else SPEED_SETS, ("input gradients", "LIME")
    return [Cell(name, label, label, seed, {}, {"epochs": 3}) for seed in range(seeds) for name in sets for label in labels]


def speed_page(results: Results) -> Page:
    """Milliseconds per explanation, and their ratio."""
    frame = results.frame()
    times = frame.pivot_table(index=["data", "seed"], columns="label", values="ms", sort=False)
    ratios = (times["LIME"] / times["input gradients"]).groupby("data", sort=False).median()  # on the same rows
    names = [f"{name}{mark_of(frame[frame['data'] == name])}" for name in ratios.index]
    sections = [
        ("Means over seeds", mean_and_spread(frame, ["data", "label"], ["ms"])),
        (
            "Time of one LIME explanation, in input gradients",
            pd.DataFrame({"data": names, "times": ratios.map("{:,.0f}".format).to_numpy()}),
        ),
    ]
    return Page(frame, sections)


TABLES = [
    Table(
        "rrr-colours",
        "RRR: toy colours, either rule forbidden, and both found without annotation",
        "Right for the right reasons: toy colours",
        "Each of two rules determines the class. If an annotation forbids one, the network uses the other. `in corners` and "
        "`in top` are shares of the large input gradients of test rows. The trainer finds the strength of the penalty.",
        colour_cells,
        rrr.compute,
        colour_page,
    ),
    Table(
        "rrr-decoy",
        "RRR: decoy MNIST with and without annotation, and found without",
        "Right for the right reasons: digits with a decoy",
        "A swatch in a corner identifies the class in training rows but not in test rows. `in confound`: share of the large input "
        "gradients of test rows that is on the swatch. The trainer finds the strength of the penalty from the training rows.",
        decoy_cells,
        rrr.compute,
        decoy_page,
    ),
    Table(
        "rrr-iris-cancer",
        "RRR: iris and breast cancer columns joined, over random splits, with the iris columns and without",
        "Right for the right reasons: iris and breast cancer",
        "",
        iris_cells,
        rrr.compute,
        iris_page,
    ),
    Table(
        "rrr-newsgroups",
        "RRR: two newsgroups, models that are right for different words",
        "Right for different reasons: two newsgroups",
        f"Inputs are weights of 5,000 words. Published ({PAPER}): one model, accuracy 94.7 % on the test posts.",
        news_cells,
        rrr.compute,
        news_page,
    ),
    Table(
        "rrr-lambda-sweep",
        "RRR: the strength of the penalty over ten decades, and found by the trainer",
        "Right for the right reasons: the strength of the penalty, over ten decades and found by the trainer",
        "Our strength multiplies the mean squared input gradient of marked inputs, which are from 0 to 1. The paper's lambda_1, for sums "
        "over 16 marks and inputs from 0 to 255, is ours times 255^2 / 16, about 4,000. Published test accuracy for lambda_1 = 1e-4, 0.1, "
        "1, 10, 100, 1e3, 1e4, 1e5 and 1e6: 56, 66, 84, 94, 96.0, 96.0, 95.1, 89 and 52 %.",
        sweep_cells,
        rrr.compute,
        sweep_page,
    ),
    Table(
        "rrr-speed",
        "RRR: milliseconds per explanation, input gradients and LIME",
        "Milliseconds per explanation: input gradients and LIME",
        f"Input gradients are computed for all test rows in batches. LIME for tables has {rrr.SAMPLES:,} samples per row and otherwise "
        f"its defaults, and explains {rrr.LIME_ROWS} rows one by one.",
        speed_cells,
        rrr.compute,
        speed_page,
    ),
]
