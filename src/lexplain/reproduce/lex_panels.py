"""LEX, switching panels: how much of a selection lies in the wrong panel, over selection rates and for every imputation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from ..experiments.cell import Cell
from .images import compute, gallery, shares
from .page import mean_and_spread, strip_of_seeds
from .table import Drawn, Figures, Page, Results, Table

ZERO, SURROGATE = "zero", "surrogate zero"
ROWS = ("Marginal", dict[str, Any]())
MIXTURE: dict[str, Any] = {"components": 20, "jitter": 1 / 255}
LOGISTIC: dict[str, Any] = {"components": 20}
# Zero imputation as LEX has it: the predictor learns on the selector's masks. Surrogate zero, as in REAL-X: on random ones.
IMPUTATIONS: dict[str, dict[str, Any]] = {
    "marginal": {"imputer": ROWS},
    ZERO: {"imputer": ("Constant", {"value": 0.0}), "own_share": 1.0},
    SURROGATE: {"imputer": ("Constant", {"value": 0.0}), "surrogate": True},
    "GMM": {"imputer": ("GaussianMixture", MIXTURE)},
    "means of GMM": {"imputer": ("MixtureMeans", MIXTURE)},
    "GMM dataset": {"imputer": ("MixtureRows", MIXTURE)},
    "k-means dataset": {"imputer": ("KMeansRows", {"components": 20})},
    "mixture of logistics": {"imputer": ("LogisticMixture", LOGISTIC)},
    "means of logistics": {"imputer": ("LogisticMeans", LOGISTIC)},
    "VAEAC": {"imputer": ("VAEAC", dict[str, Any]())},
}
JUDGES = ["EVAL-X", "EVAL-X, any rate"]
# The full recipe: the predictor learns on random masks alone, so that a selection cannot write to it, until the selector is finished.
FULL: dict[str, Any] = {"own_share": 0.0}
FULL_SIZE: dict[str, Any] = {"batch_size": 256, "judge_steps": 6000, "judges": JUDGES}
LIGHT: dict[str, Any] = {"spread": 4.0, "last": 0.3}
LIGHT_SIZE: dict[str, Any] = {**FULL_SIZE, "steps": 4000, "batch_size": 128}
LIGHT_SHARE = 0.2  # of the rows under the selector's masks
QUICK: dict[str, Any] = {"rows": 2000, "steps": 300, "batch_size": 64, "judge_steps": 300, "judges": JUDGES}
QUICK_LAST = 0.33
FEW_SEEDS = 2  # of all but the lines over rates
WIDTH, QUICK_WIDTH = 32, 8  # channels of the finest view of the U-Net
BEST = "GMM"


class Steps(NamedTuple):
    """How long the full recipe learns."""

    steps: int
    last: float  # share of them in which the predictor alone learns, from the masks of the finished selector


@dataclass(frozen=True)
class Panels:
    """One data set of switching panels, and what is computed on it."""

    name: str
    about: str
    data: str
    rates: dict[float, Steps]
    at: float  # where all imputations are compared
    good: float  # % of a selection in the wrong panel that still is a good answer: a line in the figure
    light: tuple[str, ...] = ()  # lines over rates that are of the light recipe; if any, so is the comparison of imputations


LONG, SHORT = Steps(6400, 0.5), Steps(4800, 0.33)  # the selector learns alike; the predictor reads it for longer
PANELS = (
    Panels(
        "lex-sp-mnist",
        "LEX: a digit beside clothing; how much is kept of the wrong panel, for every imputation",
        "sp_mnist",
        {0.05: LONG, 0.1: LONG, 0.02: SHORT, 0.2: SHORT},
        0.1,
        0.5,
        light=("marginal", ZERO),
    ),
    Panels("lex-sp-fashion", "LEX: the same panels, of which the clothing decides", "sp_fashion", {0.25: Steps(3000, 0.33)}, 0.25, 5.0),
)


def cells_over_rates(panels: Panels, quick: bool, seeds: int) -> list[Cell]:
    """The best imputation, and zero imputation beside it."""
    if quick:
        return _quick(panels, seeds)
    best = [_full(panels, BEST, rate, seed) for seed in range(seeds) for rate in panels.rates]
    lines = [(label, _light) for label in panels.light] or [(ZERO, _full)]
    return best + [make(panels, label, rate, seed) for label, make in lines for seed in _seeds(label, seeds) for rate in panels.rates]


def cells_at_one_rate(panels: Panels, quick: bool, seeds: int) -> list[Cell]:
    """Every imputation, by one recipe; the best line after them where it has another one."""
    if quick:
        return _quick(panels, seeds)
    best = [_full(panels, BEST, panels.at, seed) for seed in range(seeds)]
    others = [label for label in IMPUTATIONS if panels.light or label != BEST]
    make = _light if panels.light else _full
    compared = [make(panels, label, panels.at, seed) for label in others for seed in _seeds(label, seeds)]
    return compared + best if panels.light else best + compared


def _seeds(label: str, seeds: int) -> range:
    return range(seeds if label in ("marginal", ZERO) else min(seeds, FEW_SEEDS))


def _full(panels: Panels, label: str, rate: float, seed: int) -> Cell:
    steps, last = panels.rates[rate]
    options = {**FULL, "last": last, **IMPUTATIONS[label], "width": WIDTH, "keep": rate}
    size = {**FULL_SIZE, "steps": steps}
    return Cell(panels.data, f"{label}, full recipe" if panels.light else label, "sufficient", seed, options, size)


def _light(panels: Panels, label: str, rate: float, seed: int) -> Cell:
    own = {} if label in (ZERO, SURROGATE) else {"own_share": LIGHT_SHARE}
    return Cell(panels.data, label, "sufficient", seed, {**LIGHT, **IMPUTATIONS[label], **own, "width": WIDTH, "keep": rate}, LIGHT_SIZE)


def _quick(panels: Panels, seeds: int) -> list[Cell]:
    """The best imputation and zero imputation, at one rate: all that a quick page has."""
    told = {label: {**FULL, "last": QUICK_LAST, **IMPUTATIONS[label], "width": QUICK_WIDTH, "keep": panels.at} for label in (BEST, ZERO)}
    return [Cell(panels.data, label, "sufficient", seed, told[label], QUICK) for seed in range(seeds) for label in told]


def cells(panels: Panels, quick: bool, seeds: int) -> list[Cell]:
    """All cells of the page; some stand in both of its tables."""
    return cells_over_rates(panels, quick, seeds) + cells_at_one_rate(panels, quick, seeds)


def page(panels: Panels, results: Results) -> Page:
    """The curves over rates, and the imputations at one rate."""
    quick, seeds = results.run.quick, results.run.seeds
    compared = cells_at_one_rate(panels, quick, seeds)
    over, at = _frame(results, cells_over_rates(panels, quick, seeds)), _frame(results, compared)
    columns = ["wrong panel %", "ACC", "eACC", "eACC, any rate", "eAUROC", "breaks", "fit_seconds"]
    rates = "Over selection rates (% of pixels)", mean_and_spread(over.sort_values(["label", "rate"]), ["label", "rate"], columns)
    imputations = f"Imputations at {100 * panels.at:g} % of pixels", mean_and_spread(at, ["label"], [*columns, "imputer_seconds"])
    steps, last = (QUICK["steps"], QUICK_LAST) if quick else panels.rates[panels.at]
    size = {"steps": steps, "last": last, "batch": (QUICK if quick else FULL_SIZE)["batch_size"], "width": QUICK_WIDTH if quick else WIDTH}
    told, called = f", {100 * panels.at:g} % of the pixels", f"a good answer: at most {panels.good:g} %"
    axis, title = "% in the wrong panel", "Which imputation errs least?"
    strip = partial(strip_of_seeds, at, "wrong panel %", axis, line=panels.good, title=title, called=called)
    sweeps: Figures = {"rates": lambda: _sweep(over)} if over["rate"].nunique() > 1 else {}
    return Page(
        pd.concat([over, at[~at["label"].isin(over["label"])]]),
        [rates, imputations] if sweeps else [imputations],
        {"imputations": strip, **sweeps, "kept": lambda: gallery(compared, results.run.folder, told=told)},
        NOTES.format(**size) + (LIGHTER if panels.light and not quick else ""),
    )


def _frame(results: Results, some: list[Cell]) -> pd.DataFrame:
    frame = results.frame(some, percent=("ACC", "eACC", "eACC, any rate", "wrong"))
    return frame.assign(rate=[100 * options["keep"] for options in frame["options"]]).rename(columns={"wrong": "wrong panel %"})


def _sweep(over: pd.DataFrame) -> Drawn:
    from ..report import sweep

    x, y = "% of pixels kept", "% of the selection in the wrong panel"
    curve = over.groupby(["label", "rate"], sort=False)["wrong panel %"].agg(["mean", "min", "max"]).reset_index()
    return sweep(curve.rename(columns={"mean": y, "rate": x}), x=x, y=y, by="label", low="min", high="max")


NOTES = (
    "A digit and a piece of clothing lie side by side in random order; the label is that of one of them, so that any pixel kept in the "
    "other panel is wrong. U-Net selector ({width} channels, two levels) and a small convolutional predictor, on exactly k pixels a row "
    "(method `sufficient`: one imputation a mask, outside the log; the scores of a row have a standard deviation of 4). The full recipe: "
    "{steps:,} steps of {batch} images; the predictor learns on random masks of every size alone, so that a selection cannot write to it, "
    "and in the last {last:.0%} of the steps, when the selector is finished, on its masks. Zero imputation is as LEX has it, its predictor "
    "always on the selector's masks; surrogate zero as in REAL-X, on fair coins. ACC: from the kept pixels by the method's own predictor, "
    "averaged over 20 imputations; eACC and eAUROC: by EVAL-X, a network of its own that learned on fair coins, to which masks of a few "
    "pixels are new; eACC, any rate: by one that learned on every number of pixels. Breaks: pairs of neighbours of which one is kept, for "
    "each pixel kept. On a GPU products are of half precision (bf16). Seconds are of fits beside up to 15 others on the same "
    "machine. LEX publishes curves only: with its mixture of logistics near 10 % of pixels best on SP-MNIST, and .97 accuracy without "
    "selection."
)
LIGHTER = (
    f" At 2 and at 20 % of the pixels it has {SHORT.steps:,} steps and reads the selector in the last {SHORT.last:.0%}. Imputations are "
    "compared with each other by a lighter recipe, which the lines that are not called full have: 4,000 steps of 128 images, a fifth of "
    "the rows under the selector's masks, and the predictor alone in the last 30 %. The full recipe beside them shows what more training "
    "gives, not what the imputation does."
)
TABLES = [
    Table(
        each.name,
        each.about,
        f"LEX, switching panels ({each.data})",
        "",
        partial(cells, each),
        compute,
        partial(page, each),
        shares=shares,
    )
    for each in PANELS
]
