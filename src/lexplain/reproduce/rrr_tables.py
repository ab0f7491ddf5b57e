"""The tables and figures of "Right for the right reasons", each a name of `lexplain reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import rrr
from .cells import Cell, Run
from .tables import MARK, mark_of, mean_and_spread, write_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER = "Ross, Hughes and Doshi-Velez, 2017"
COLOURS, DECOY, IRIS, NEWS, SWEEP = "rrr-colours", "rrr-decoy", "rrr-iris-cancer", "rrr-newsgroups", "rrr-lambda-sweep"
SPEED = "rrr-speed"
SPEED_SETS = ("iris_cancer", "colours", "decoy_digits", "newsgroups", "decoy_mnist")
FOUND = "Models found one after the other, without annotation"


def colours(run: Run) -> Path:
    """Forbid either rule, both, or none; and find both rules without annotation."""
    less = {"epochs": 20, "rows": 5000} if run.quick else rrr.TRAINING
    labels = ("plain", "no corners", "no top", "neither")
    fits = [Cell("colours", label, "right reasons", seed, {}, less) for seed in range(run.seeds) for label in labels]
    searches = _searches("colours", less, run.seeds)
    frame, found = run.cells(fits, rrr.compute_fit), run.cells(searches, rrr.compute_search)
    published = pd.DataFrame(
        [("plain", 100, "corners"), ("no corners", 100, "top"), ("no top", 100, "corners"), ("neither (1e6)", 54, "noise")],
        columns=["label", "test", "rule"],
    )
    return _write(
        run,
        frame,
        ["label"],
        ["train", "test", "in corners", "in top", "strength", "fit_seconds"],
        title="Right for the right reasons: toy colours",
        notes="Two rules tell the class, each by itself; an annotation that forbids one moves the network to the other. `in corners` and "
        "`in top` are shares of the large input gradients of test rows. The strength is found by the trainer itself.",
        sections=[(FOUND, _models(found)), (f"Published ({PAPER})", published)],
        figures={"models": lambda: rrr.search_figure(searches[0], (5, 5, 3))},
        asked=[*fits, *searches],
        beside=[found],
    )


def _searches(data: str, training: dict[str, Any], seeds: int) -> list[Cell]:
    """Three models found without annotation, for every seed."""
    return [Cell(data, "search", "find another", seed, {}, training) for seed in range(seeds)]


def _models(frame: pd.DataFrame) -> pd.DataFrame:
    """What the models of searches are worth, mean over seeds."""
    lines = []
    for place in (1, 2, 3):
        shares = [column for column in map(str, frame) if column.startswith("in ") and column.endswith(f" {place}")]
        columns = [f"held out {place}", f"test {place}", *shares]
        there = {column: column.removesuffix(f" {place}") for column in columns if column in frame}
        lines.append({"model": f"{place}{mark_of(frame)}"} | {name: f"{100 * frame[column].mean():.1f}" for column, name in there.items()})
    return pd.DataFrame(lines).fillna("").assign(diversity=f"{frame['diversity'].mean():.3f}")


def decoy(run: Run) -> Path:
    """Decoy MNIST with and without annotation, and found without; small digits where it is quick."""
    data, less = ("decoy_digits", {"epochs": 100}) if run.quick else ("decoy_mnist", rrr.TRAINING)
    fits = [Cell(data, label, "right reasons", seed, {}, less) for seed in range(run.seeds) for label in ("plain", "annotated")]
    searches, selections = _searches(data, less, run.seeds), _selections(run)
    frame, found = run.cells(fits, rrr.compute_fit), run.cells(searches, rrr.compute_search)
    chosen = run.cells(selections, rrr.compute_selection)
    columns = ["train", "test", "in confound"]
    published = pd.DataFrame([("plain", 99.7, 51.6), ("annotated, 1000", 98.2, 96.1)], columns=["label", "train", "test"])
    return _write(
        run,
        frame,
        ["data", "label"],
        ["train", "test", "in confound", "strength", "fit_seconds"],
        title="Right for the right reasons: digits with a decoy",
        notes="A swatch in a corner tells the class in training and nothing in the test. `in confound`: share of the large input gradients "
        "of test rows that lies on the swatch. The strength is found by the trainer itself, from the training rows.",
        sections=[
            (FOUND, _models(found)),
            (
                "Selections instead of slopes: L2X on decoy digits, 12 pixels, charged for marked ones",
                mean_and_spread(chosen.assign(**{name: 100 * chosen[name] for name in columns}), ["label"], columns),
            ),
            (f"Published ({PAPER})", published),
        ],
        figures={"models": lambda: rrr.search_figure(searches[0], (8, 8) if run.quick else (28, 28))},
        asked=[*fits, *searches, *selections],
        beside=[found, chosen],
    )


def _selections(run: Run) -> list[Cell]:
    """An amortized explainer with and without a price on marked features."""
    training = {"epochs": 60 if run.quick else 300}
    prices = {"plain": 0.0, "annotated": 3.0}
    return [
        Cell("decoy_digits", f"l2x, {label}", "l2x", seed, {"keep": 12, "price": price}, training)
        for seed in range(run.seeds)
        for label, price in prices.items()
    ]


def iris_cancer(run: Run) -> Path:
    """Irises beside tumours: accuracy with and without the irises at test time, over random splits."""
    splits = 10 if run.quick else rrr.SPLITS
    fits = [
        Cell("iris_cancer", label + suffix, "right reasons", split, options, rrr.IRIS_TRAINING)
        for suffix, options in (("", {}), (", standardised", {"standardised": True}))
        for split in range(splits)
        for label in ("plain", "annotated")
    ]
    searches = _searches("iris_cancer", rrr.IRIS_TRAINING, splits)
    frame, found = run.cells(fits, rrr.compute_iris), run.cells(searches, rrr.compute_search)
    published = pd.DataFrame([("plain", 91.5, 81.1)], columns=["label", "with iris", "without"])
    return _write(
        run,
        frame,
        ["label"],
        ["train", "with iris", "without", "in iris", "strength"],
        title="Right for the right reasons: irises beside tumours",
        notes=f"Means over {splits} random splits of 100 rows, 67 to train on; the numbers under seeds are splits. `without`: the iris "
        "columns are 0 in the test rows. Inputs are raw as in the paper, or standardised by the training rows.",
        sections=[(FOUND, _models(found)), (f"Published ({PAPER})", published)],
        figures={"models": lambda: rrr.search_figure(searches[0], None)},
        asked=[*fits, *searches],
        beside=[found],
    )


def newsgroups(run: Run) -> Path:
    """Atheists and Christians: three models that are right for different words."""
    training = {"epochs": 5 if run.quick else 20}
    searches = _searches("newsgroups", training, run.seeds)
    named = [Cell("newsgroups", "words", "find another", 0, {}, training)]
    frame, words = run.cells(searches, rrr.compute_search), run.cells(named, rrr.compute_words)
    return _write(
        run,
        frame,
        ["data"],
        ["held out 1", "test 1", "diversity"],
        title="Right for different reasons: two newsgroups",
        notes=f"Weights of 5,000 words. Published ({PAPER}): one model, 94.7 % of the test posts.",
        sections=[
            ("Models found one after the other", _models(frame)),
            ("Words of the post with a large slope, those of most test posts first (seed 0)", _words(words)),
        ],
        figures={},
        asked=[*searches, *named],
        beside=[words],
    )


def _words(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a model: its words."""
    lines = [str(frame[name].iloc[0]) for name in frame if str(name).startswith("words ")]
    return pd.DataFrame({"model": [f"{place}{mark_of(frame)}" for place in range(1, len(lines) + 1)], "words": lines})


def lambda_sweep(run: Run) -> Path:
    """Strengths over ten decades beside the one that the trainer finds."""
    data, less = ("decoy_digits", {"epochs": 100}) if run.quick else ("decoy_mnist", rrr.TRAINING)
    strengths: list[str | float] = ["auto", *rrr.SWEEP]
    fits = [Cell(data, "annotated", "right reasons", seed, {"strength": s}, less) for seed in range(run.seeds) for s in strengths]
    frame = run.cells(fits, rrr.compute_fit)
    frame["asked"] = [str(options["strength"]) for options in frame["options"]]
    return _write(
        run,
        frame,
        ["data", "asked"],
        ["train", "test", "in confound", "strength"],
        title="Right for the right reasons: the strength, over ten decades and found by itself",
        notes="Our strength multiplies the mean squared slope along marked inputs, which are from 0 to 1: the paper's lambda_1, for sums "
        "over 16 marks and inputs from 0 to 255, is ours times 255^2 / 16, about 4,000. Published test accuracy for lambda_1 = 1e-4, 0.1, "
        "1, 10, 100, 1e3, 1e4, 1e5 and 1e6: 56, 66, 84, 94, 96.0, 96.0, 95.1, 89 and 52 %.",
        sections=[],
        figures={"sweep": lambda: _sweep_figure(frame)},
        asked=fits,
    )


def _sweep_figure(frame: pd.DataFrame) -> Axes:
    from ..report import sweep

    fixed = frame[frame["asked"] != "auto"].assign(power=lambda part: np.log10(part["asked"].astype(float)), label="fixed strength")
    found = frame[frame["asked"] == "auto"].assign(power=lambda part: np.log10(part["strength"]), label="found by the trainer")
    means = [part.groupby("power" if name == "fixed" else "label")["test"].mean() for name, part in (("fixed", fixed), ("auto", found))]
    line = pd.DataFrame({"log10 of the strength": means[0].index, "test accuracy": means[0].to_numpy(), "label": "fixed strength"})
    point = {"log10 of the strength": [found["power"].mean()], "test accuracy": [means[1].iloc[0]], "label": ["found by the trainer"]}
    return sweep(pd.concat([line, pd.DataFrame(point)]), x="log10 of the strength", y="test accuracy", by="label")


def speed(run: Run) -> Path:
    """What an explanation takes: input gradients and LIME."""
    sets, labels = SPEED_SETS[:1] if run.quick else SPEED_SETS, ("input gradients", "LIME")
    made = [Cell(name, label, label, seed, {}, {"epochs": 3}) for seed in range(run.seeds) for name in sets for label in labels]
    frame = run.cells(made, rrr.compute_speed)
    return _write(
        run,
        frame,
        ["data", "label"],
        ["ms"],
        title="Milliseconds an explanation: input gradients and LIME",
        notes=f"Input gradients of all test rows in batches; LIME for tables, {rrr.SAMPLES:,} samples a row and its own "
        f"choice of all else, {rrr.LIME_ROWS} rows one by one.",
        sections=[("How many gradients one explanation of LIME costs", _ratios(frame))],
        figures={},
        asked=made,
    )


def _ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """LIME's time over that of input gradients on the same rows, the median over seeds."""
    times = frame.pivot_table(index=["data", "seed"], columns="label", values="ms", sort=False)
    ratios = (times["LIME"] / times["input gradients"]).groupby("data", sort=False).median()
    older = set() if "fresh" not in frame else set(frame.loc[~frame["fresh"].astype(bool), "data"])
    names = [f"{name}{MARK if name in older else ''}" for name in ratios.index]
    return pd.DataFrame({"data": names, "times": [f"{value:,.0f}" for value in ratios]})


def _write(run: Run, frame: pd.DataFrame, by: list[str], columns: list[str], **page: Any) -> Path:
    """Write the page of one of these tables, accuracies and shares in percent."""
    shares = [column for column in columns if column not in ("strength", "fit_seconds", "diversity", "ms")]
    frame[shares] *= 100
    sections = [("Mean over seeds", mean_and_spread(frame, by, columns)), *page.pop("sections")]
    return write_result(run, frame=frame, sections=sections, **page)
