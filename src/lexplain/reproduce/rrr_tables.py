"""The tables and figures of "Right for the right reasons", each a name of `lexplain reproduce`."""

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
    """The finished fits, and their means over seeds; accuracies and shares in percent."""
    frame = results.frame((cell for cell in results.asked if cell.method == method), percent=PERCENT)
    return frame, mean_and_spread(frame, by, columns)


def searches(data: str, training: dict[str, Any], seeds: int) -> list[Cell]:
    """Three models found without annotation, for every seed."""
    return [Cell(data, "search", "find another", seed, {}, training) for seed in range(seeds)]


def found_of(results: Results) -> list[Cell]:
    """The searches of a page, without the cells of words."""
    return [cell for cell in results.asked if cell.label == "search"]


def _models(results: Results) -> pd.DataFrame:
    """What the models of searches are worth, mean over seeds."""
    frame, lines = results.frame(found_of(results)), []
    for place in (1, 2, 3):
        shares = [column for column in map(str, frame) if column.startswith("in ") and column.endswith(f" {place}")]
        columns = [f"held out {place}", f"test {place}", *shares]
        there = {column: column.removesuffix(f" {place}") for column in columns if column in frame}
        lines.append({"model": f"{place}{mark_of(frame)}"} | {name: f"{100 * frame[column].mean():.1f}" for column, name in there.items()})
    return pd.DataFrame(lines).fillna("").assign(diversity=f"{frame['diversity'].mean():.3f}")


# ---- colours ----


def colour_cells(quick: bool, seeds: int) -> list[Cell]:
    """Forbid either rule, both, or none; and find both rules without annotation."""
    less = {"epochs": 20, "rows": 5000} if quick else rrr.TRAINING
    labels = ("plain", "no corners", "no top", "neither")
    fits = [Cell("colours", label, "right reasons", seed, {}, less) for seed in range(seeds) for label in labels]
    return fits + searches("colours", less, seeds)


def colour_page(results: Results) -> Page:
    """What annotations do, and what is found without."""
    frame, means = fitted(results, ["label"], ["train", "test", "in corners", "in top", "strength", "fit_seconds"])
    lines = [("plain", 100, "corners"), ("no corners", 100, "top"), ("no top", 100, "corners"), ("neither (1e6)", 54, "noise")]
    published = pd.DataFrame(lines, columns=["label", "test", "rule"])
    sections = [("Mean over seeds", means), (FOUND, _models(results)), (f"Published ({PAPER})", published)]
    return Page(frame, sections, {"models": lambda: rrr.search_figure(found_of(results)[0], (5, 5, 3))})


# ---- decoys ----


def decoy_cells(quick: bool, seeds: int) -> list[Cell]:
    """Decoy MNIST with and without annotation, found without, and by selections; small digits where it is quick."""
    data, less = ("decoy_digits", {"epochs": 100}) if quick else ("decoy_mnist", rrr.TRAINING)
    fits = [Cell(data, label, "right reasons", seed, {}, less) for seed in range(seeds) for label in ("plain", "annotated")]
    training, prices = {"epochs": 60 if quick else 300}, {"plain": 0.0, "annotated": 3.0}
    selections = [  # an amortized explainer with and without a price on marked features
        Cell("decoy_digits", f"l2x, {label}", "l2x", seed, {"keep": 12, "price": price}, training)
        for seed in range(seeds)
        for label, price in prices.items()
    ]
    return fits + searches(data, less, seeds) + selections


def decoy_page(results: Results) -> Page:
    """What annotations do, what is found without, and what selections do."""
    frame, means = fitted(results, ["data", "label"], ["train", "test", "in confound", "strength", "fit_seconds"])
    _, chosen = fitted(results, ["label"], ["train", "test", "in confound"], "l2x")
    published = pd.DataFrame([("plain", 99.7, 51.6), ("annotated, 1000", 98.2, 96.1)], columns=["label", "train", "test"])
    sections = [
        ("Mean over seeds", means),
        (FOUND, _models(results)),
        ("Selections instead of slopes: L2X on decoy digits, 12 pixels, charged for marked ones", chosen),
        (f"Published ({PAPER})", published),
    ]
    return Page(frame, sections, {"models": lambda: rrr.search_figure(found_of(results)[0], (8, 8) if results.run.quick else (28, 28))})


# ---- irises ----


def iris_cells(quick: bool, seeds: int) -> list[Cell]:  # noqa: ARG001  splits are what is repeated
    """Irises beside tumours: accuracy with and without the irises at test time, over random splits."""
    splits = 10 if quick else rrr.SPLITS
    fits = [
        Cell("iris_cancer", label + suffix, "right reasons", split, options, rrr.IRIS_TRAINING)
        for suffix, options in (("", {}), (", standardised", {"standardised": True}))
        for split in range(splits)
        for label in ("plain", "annotated")
    ]
    return fits + searches("iris_cancer", rrr.IRIS_TRAINING, splits)


def iris_page(results: Results) -> Page:
    """What annotations do to accuracy without the irises."""
    frame, means = fitted(results, ["label"], ["train", "with iris", "without", "in iris", "strength"])
    published = pd.DataFrame([("plain", 91.5, 81.1)], columns=["label", "with iris", "without"])
    splits = 10 if results.run.quick else rrr.SPLITS
    return Page(
        frame,
        [("Mean over seeds", means), (FOUND, _models(results)), (f"Published ({PAPER})", published)],
        {"models": lambda: rrr.search_figure(found_of(results)[0], None)},
        f"Means over {splits} random splits of 100 rows, 67 to train on; the numbers under seeds are splits. `without`: the iris columns "
        "are 0 in the test rows. Inputs are raw as in the paper, or standardised by the training rows.",
    )


# ---- newsgroups ----


def news_cells(quick: bool, seeds: int) -> list[Cell]:
    """Atheists and Christians: three models that are right for different words."""
    training = {"epochs": 5 if quick else 20}
    return [*searches("newsgroups", training, seeds), Cell("newsgroups", "words", "find another", 0, {}, training)]


def news_page(results: Results) -> Page:
    """What the models of searches are worth, and their words."""
    searched = results.frame(found_of(results), percent=("held out 1", "test 1"))
    named = results.frame(cell for cell in results.asked if cell.label == "words")
    words = [str(named[name].iloc[0]) for name in named if str(name).startswith("words ")]
    models = [f"{place}{mark_of(named)}" for place in range(1, len(words) + 1)]
    sections = [
        ("Mean over seeds", mean_and_spread(searched, ["data"], ["held out 1", "test 1", "diversity"])),
        ("Models found one after the other", _models(results)),
        ("Words of the post with a large slope, those of most test posts first (seed 0)", pd.DataFrame({"model": models, "words": words})),
    ]
    return Page(searched, sections)


# ---- the strength ----


def sweep_cells(quick: bool, seeds: int) -> list[Cell]:
    """Strengths over ten decades beside the one that the trainer finds."""
    data, less = ("decoy_digits", {"epochs": 100}) if quick else ("decoy_mnist", rrr.TRAINING)
    strengths: list[str | float] = ["auto", *rrr.SWEEP]
    return [Cell(data, "annotated", "right reasons", seed, {"strength": s}, less) for seed in range(seeds) for s in strengths]


def sweep_page(results: Results) -> Page:
    """Accuracy over the strength."""
    columns = ["train", "test", "in confound", "strength"]
    frame = results.frame(percent=columns[:-1])
    frame["asked"] = [str(options["strength"]) for options in frame["options"]]
    return Page(frame, [("Mean over seeds", mean_and_spread(frame, ["data", "asked"], columns))], {"sweep": lambda: _sweep_figure(frame)})


def _sweep_figure(frame: pd.DataFrame) -> Drawn:
    from ..report import sweep

    x, y, auto = "log10 of the strength", "test accuracy", frame["asked"] == "auto"
    points = frame.assign(label=np.where(auto, "found by the trainer", "fixed strength")).rename(columns={"test": y})
    points[x] = np.log10(points["strength"].where(auto, points["asked"].replace("auto", "nan").astype(float)))
    means = points[~auto].groupby(["label", x], as_index=False)[y].mean()
    return sweep(pd.concat([means, points[auto].groupby("label", as_index=False)[[x, y]].mean()]), x=x, y=y, by="label")


# ---- speed ----


def speed_cells(quick: bool, seeds: int) -> list[Cell]:
    """What an explanation takes: input gradients and LIME."""
    sets, labels = SPEED_SETS[:1] if quick else SPEED_SETS, ("input gradients", "LIME")
    return [Cell(name, label, label, seed, {}, {"epochs": 3}) for seed in range(seeds) for name in sets for label in labels]


def speed_page(results: Results) -> Page:
    """Milliseconds, and their ratio."""
    frame = results.frame()
    times = frame.pivot_table(index=["data", "seed"], columns="label", values="ms", sort=False)
    ratios = (times["LIME"] / times["input gradients"]).groupby("data", sort=False).median()  # on the same rows
    names = [f"{name}{mark_of(frame[frame['data'] == name])}" for name in ratios.index]
    sections = [
        ("Mean over seeds", mean_and_spread(frame, ["data", "label"], ["ms"])),
        (
            "How many gradients one explanation of LIME costs",
            pd.DataFrame({"data": names, "times": ratios.map("{:,.0f}".format).to_numpy()}),
        ),
    ]
    return Page(frame, sections)


TABLES = [
    Table(
        "rrr-colours",
        "RRR: toy colours, either rule forbidden, and both found without annotation",
        "Right for the right reasons: toy colours",
        "Two rules tell the class, each by itself; an annotation that forbids one moves the network to the other. `in corners` and "
        "`in top` are shares of the large input gradients of test rows. The strength is found by the trainer itself.",
        colour_cells,
        rrr.compute,
        colour_page,
    ),
    Table(
        "rrr-decoy",
        "RRR: decoy MNIST with and without annotation, and found without",
        "Right for the right reasons: digits with a decoy",
        "A swatch in a corner tells the class in training and nothing in the test. `in confound`: share of the large input gradients "
        "of test rows that lies on the swatch. The strength is found by the trainer itself, from the training rows.",
        decoy_cells,
        rrr.compute,
        decoy_page,
    ),
    Table(
        "rrr-iris-cancer",
        "RRR: irises beside tumours over random splits, with the irises and without",
        "Right for the right reasons: irises beside tumours",
        "",
        iris_cells,
        rrr.compute,
        iris_page,
    ),
    Table(
        "rrr-newsgroups",
        "RRR: two newsgroups, models that are right for different words",
        "Right for different reasons: two newsgroups",
        f"Weights of 5,000 words. Published ({PAPER}): one model, 94.7 % of the test posts.",
        news_cells,
        rrr.compute,
        news_page,
    ),
    Table(
        "rrr-lambda-sweep",
        "RRR: the strength of the penalty over ten decades, and found by the trainer",
        "Right for the right reasons: the strength, over ten decades and found by itself",
        "Our strength multiplies the mean squared slope along marked inputs, which are from 0 to 1: the paper's lambda_1, for sums "
        "over 16 marks and inputs from 0 to 255, is ours times 255^2 / 16, about 4,000. Published test accuracy for lambda_1 = 1e-4, 0.1, "
        "1, 10, 100, 1e3, 1e4, 1e5 and 1e6: 56, 66, 84, 94, 96.0, 96.0, 95.1, 89 and 52 %.",
        sweep_cells,
        rrr.compute,
        sweep_page,
    ),
    Table(
        "rrr-speed",
        "RRR: milliseconds an explanation, input gradients and LIME",
        "Milliseconds an explanation: input gradients and LIME",
        f"Input gradients of all test rows in batches; LIME for tables, {rrr.SAMPLES:,} samples a row and its own "
        f"choice of all else, {rrr.LIME_ROWS} rows one by one.",
        speed_cells,
        rrr.compute,
        speed_page,
    ),
]
