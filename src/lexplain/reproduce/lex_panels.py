"""LEX, switching panels: the share of a selection in the wrong panel, for several selection rates and imputations."""

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
# Zero imputation, as in LEX: the predictor is trained on the selector's masks. Surrogate zero, as in REAL-X: on random masks.
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
EVALUATORS = ["EVAL-X", "EVAL-X, any rate"]
# The full recipe: until the selector is finished, the predictor is trained on random masks only, so that masks cannot encode the label.
FULL: dict[str, Any] = {"own_share": 0.0}
FULL_SIZE: dict[str, Any] = {"batch_size": 256, "judge_steps": 6000, "judges": EVALUATORS}
LIGHT: dict[str, Any] = {"spread": 4.0, "last": 0.3}
LIGHT_SIZE: dict[str, Any] = {**FULL_SIZE, "steps": 4000, "batch_size": 128}
LIGHT_SHARE = 0.2  # share of the rows with the selector's masks
QUICK: dict[str, Any] = {"rows": 2000, "steps": 300, "batch_size": 64, "judge_steps": 300, "judges": EVALUATORS}
QUICK_LAST = 0.33
FEW_SEEDS = 2  # of lines with a single rate
WIDTH, QUICK_WIDTH = 32, 8  # channels of the U-Net at full resolution
BEST = "GMM"


class Steps(NamedTuple):
    """Training length of the full recipe."""

    steps: int
    last: float  # share of the steps in which only the predictor is trained, on the masks of the finished selector


@dataclass(frozen=True)
class Panels:
    """One data set of switching panels, and its settings."""

    name: str
    about: str
    data: str
    rates: dict[float, Steps]
    at: float  # rate at which all imputations are compared
    good: float  # % of a selection in the wrong panel that is still good: a line in the figure
    light: tuple[str, ...] = ()  # lines with the light recipe; if there are any, imputations are compared with it


LONG, SHORT = Steps(6400, 0.5), Steps(4800, 0.33)  # the selector is trained equally long, the predictor longer
PANELS = (
    Panels(
        "lex-sp-mnist",
        "LEX: a digit next to clothing; the share of kept pixels in the wrong panel, for each imputation",
        "sp_mnist",
        {0.05: LONG, 0.1: LONG, 0.02: SHORT, 0.2: SHORT},
        0.1,
        0.5,
        light=("marginal", ZERO),
    ),
    Panels("lex-sp-fashion", "LEX: the same panels, with the clothing as the label", "sp_fashion", {0.25: Steps(3000, 0.33)}, 0.25, 5.0),
)


def cells_over_rates(panels: Panels, quick: bool, seeds: int) -> list[Cell]:
    """The best imputation and zero imputation, at all rates."""
    if quick:
        return _quick(panels, seeds)
    best = [_full(panels, BEST, rate, seed) for seed in range(seeds) for rate in panels.rates]
    lines = [(label, _light) for label in panels.light] or [(ZERO, _full)]
    return best + [make(panels, label, rate, seed) for label, make in lines for seed in _seeds(label, seeds) for rate in panels.rates]


def cells_at_one_rate(panels: Panels, quick: bool, seeds: int) -> list[Cell]:
    """All imputations with the same recipe, then the best one with its own recipe, if that differs."""
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
    """The cells of a quick page: the best imputation and zero imputation, at one rate."""
    options = {label: {**FULL, "last": QUICK_LAST, **IMPUTATIONS[label], "width": QUICK_WIDTH, "keep": panels.at} for label in (BEST, ZERO)}
    return [Cell(panels.data, label, "sufficient", seed, options[label], QUICK) for seed in range(seeds) for label in options]


def cells(panels: Panels, quick: bool, seeds: int) -> list[Cell]:
    """All cells of the page; some are in both of its tables."""
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
    note, called = f", {100 * panels.at:g} % of the pixels", f"good: at most {panels.good:g} %"
    axis, title = "% in the wrong panel", "Errors per imputation"
    strip = partial(strip_of_seeds, at, "wrong panel %", axis, line=panels.good, title=title, called=called)
    sweeps: Figures = {"rates": lambda: _sweep(over)} if over["rate"].nunique() > 1 else {}
    return Page(
        pd.concat([over, at[~at["label"].isin(over["label"])]]),
        [rates, imputations] if sweeps else [imputations],
        {"imputations": strip, **sweeps, "kept": lambda: gallery(compared, results.run.folder, note=note)},
        NOTES.format(**size) + (LIGHTER if panels.light and not quick else ""),
    )


def _frame(results: Results, cells: list[Cell]) -> pd.DataFrame:
    frame = results.frame(cells, percent=("ACC", "eACC", "eACC, any rate", "wrong"))
    return frame.assign(rate=[100 * options["keep"] for options in frame["options"]]).rename(columns={"wrong": "wrong panel %"})


def _sweep(over: pd.DataFrame) -> Drawn:
    from ..report import sweep

    x, y = "% of pixels kept", "% of the selection in the wrong panel"
    curve = over.groupby(["label", "rate"], sort=False)["wrong panel %"].agg(["mean", "min", "max"]).reset_index()
    return sweep(curve.rename(columns={"mean": y, "rate": x}), x=x, y=y, by="label", low="min", high="max")


NOTES = (
    "A digit and a piece of clothing are next to each other in random order. The label is that of one of them, so each pixel kept in the "
    "other panel is wrong. A U-Net ({width} channels, two levels) selects exactly k pixels per row; a small convolutional one predicts. "
    "(Method `sufficient`: one imputation per mask, outside the log; scores of a row have a standard deviation of 4.) The full recipe has "
    "{steps:,} steps of {batch} images. Its predictor is trained on random masks of all sizes, so that selections cannot encode the label; "
    "in the last {last:.0%} of the steps, when the selector is finished, on the selector's masks. Zero imputation trains the predictor on "
    "the selector's masks (LEX); surrogate zero on masks that show each pixel with probability 1/2 (REAL-X). ACC: accuracy of the method's "
    "own predictor from the kept pixels, averaged over 20 imputations. eACC, eAUROC: those of EVAL-X, a separate network trained with each "
    "pixel visible with probability 1/2; masks with few pixels are new to it. eACC, any rate: that of a network trained on masks of all "
    "sizes. Breaks: pairs of neighbours with only one of them kept, per kept pixel. On a GPU, products have half precision (bf16). Seconds "
    "are those of fits in parallel with up to 15 others. LEX publishes curves only: its mixture of logistics is best near 10 % of the "
    "pixels on SP-MNIST, and the accuracy without selection is .97."
)
LIGHTER = (
    f" At 2 and 20 % of the pixels, the full recipe has {SHORT.steps:,} steps, with the selector finished in the last {SHORT.last:.0%}. "
    "Imputations are compared with a lighter recipe, which is that of all lines not called full: 4,000 steps of 128 images, the selector's "
    "masks on a fifth of the rows, and only the predictor trained in the last 30 %. The full recipe next to them shows the effect of more "
    "training, not of the imputation."
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
