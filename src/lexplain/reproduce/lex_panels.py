"""LEX, switching panels: how much of a selection lies in the wrong panel, over selection rates and for every imputation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .cells import Cell
from .gallery import gallery
from .images import run
from .tables import mean_and_spread, write_result

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
SIZE: dict[str, Any] = {"steps": 4000, "batch_size": 256, "judge_steps": 6000, "judges": JUDGES}
LIGHT_SIZE: dict[str, Any] = {**SIZE, "batch_size": 128}
LIGHT: dict[str, Any] = {"spread": 4.0, "last": 0.3}  # with a fifth of the rows, in place of a half, under the selector's masks
QUICK: dict[str, Any] = {"rows": 2000, "steps": 300, "batch_size": 64, "judge_steps": 300, "judges": JUDGES}
FEW_SEEDS, WIDTH = 2, 32  # seeds of all but the best line; channels of the finest view of the U-Net


@dataclass(frozen=True)
class Panels:
    """One data set of switching panels, and what is computed on it."""

    data: str
    best: str  # the imputation that is beside zero imputation at all rates
    rates: tuple[float, ...]
    at: float  # where all imputations are compared
    light: bool = False  # whether all this is by the lighter recipe
    full: tuple[float, ...] = ()  # where the best imputation has the full recipe beside it


PANELS = {
    "lex-sp-mnist": Panels("sp_mnist", "marginal", (0.05, 0.1, 0.02, 0.2), 0.1, light=True, full=(0.05, 0.1)),
    "lex-sp-fashion": Panels("sp_fashion", "GMM", (0.25,), 0.25),
}
NAMES = tuple(PANELS)


def cells_over_rates(panels: Panels, *, quick: bool, seeds: int) -> list[Cell]:
    """The best imputation, by both recipes where there are two, and zero imputation."""
    few, rates = range(min(seeds, FEW_SEEDS)), (panels.at,) if quick else panels.rates
    full = [_full(panels, panels.best, rate, seed) for seed in range(seeds) for rate in panels.full] if not quick else []
    best = [_cell(panels, panels.best, rate, seed, quick=quick) for seed in range(seeds) for rate in rates]
    return full + best + [_cell(panels, ZERO, rate, seed, quick=quick) for seed in few for rate in rates]


def cells_at_one_rate(panels: Panels, *, quick: bool, seeds: int) -> list[Cell]:
    """Every imputation."""
    many = {panels.best: seeds}
    labels = (panels.best, ZERO) if quick else tuple(IMPUTATIONS)
    wanted = [(label, seed) for label in labels for seed in range(many.get(label, min(seeds, FEW_SEEDS)))]
    return [_cell(panels, label, panels.at, seed, quick=quick) for label, seed in wanted]


def _full(panels: Panels, label: str, rate: float, seed: int) -> Cell:
    options = {**IMPUTATIONS[label], "width": WIDTH, "keep": rate}
    return Cell(panels.data, f"{label}, full recipe" if panels.light else label, "hold", seed, options, SIZE)


def _cell(panels: Panels, label: str, rate: float, seed: int, *, quick: bool) -> Cell:
    if quick:
        return Cell(panels.data, label, "hold", seed, {**IMPUTATIONS[label], "width": 8, "keep": rate}, QUICK)
    if not panels.light:
        return _full(panels, label, rate, seed)
    own = {} if label in (ZERO, SURROGATE) else {"own_share": 0.2}
    return Cell(panels.data, label, "hold", seed, {**LIGHT, **IMPUTATIONS[label], **own, "width": WIDTH, "keep": rate}, LIGHT_SIZE)


def reproduce(name: str, *, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Compute the curves and the table, and draw them."""
    panels, folder = PANELS[name], out / (f"{name}-quick" if quick else name)
    over = _in_percent(run(cells_over_rates(panels, quick=quick, seeds=seeds), folder, workers=workers))
    compared = cells_at_one_rate(panels, quick=quick, seeds=seeds)
    at = _in_percent(run(compared, folder, workers=workers))
    columns = ["wrong panel", "ACC", "eACC", "eACC, any rate", "eAUROC", "breaks", "fit_seconds"]
    drawn = gallery([cell for cell in compared if cell.seed == 0], folder)
    return write_result(
        folder,
        title=f"LEX, switching panels ({panels.data})",
        command=f"lexplain reproduce {name}{' --quick' if quick else ''} --seeds {seeds}",
        notes=NOTES + (LIGHTER if panels.light and not quick else ""),
        frame=pd.concat([over, at[~at["label"].isin((panels.best, ZERO))]]),
        sections=[
            ("Over selection rates (% of pixels)", mean_and_spread(over.sort_values(["label", "rate"]), ["label", "rate"], columns)),
            (f"Imputations at {100 * panels.at:g} % of pixels", mean_and_spread(at, ["label"], [*columns, "imputer_seconds"])),
        ],
        figures=_figures(over, at) | ({} if drawn is None else {"kept": drawn}),
    )


def _in_percent(frame: pd.DataFrame) -> pd.DataFrame:
    shares = ["ACC", "eACC", "eACC, any rate", "wrong"]
    rates = [100 * options["keep"] for options in frame["options"]]
    return frame.assign(**{name: 100 * frame[name] for name in shares}, rate=rates).rename(columns={"wrong": "wrong panel"})


def _figures(over: pd.DataFrame, at: pd.DataFrame) -> dict[str, Any]:
    from ..report import strip, sweep

    curve = over.groupby(["label", "rate"], sort=False)["wrong panel"].agg(["mean", "min", "max"]).reset_index()
    curve = curve.rename(columns={"mean": "% of the selection in the wrong panel", "rate": "% of pixels kept"})
    drawn = at.rename(columns={"wrong panel": "% in the wrong panel", "label": "imputation"}).assign(
        seeds=lambda f: "seed " + f["seed"].astype(str)
    )
    return {
        "rates": sweep(curve, x="% of pixels kept", y="% of the selection in the wrong panel", by="label", low="min", high="max"),
        "imputations": strip(
            drawn, value="% in the wrong panel", by="imputation", colour="seeds", line=0.5, title="Which imputation errs least?"
        ),
    }


NOTES = (
    "A digit and a piece of clothing lie side by side in random order; the label is that of one of them, so that any pixel kept in the "
    "other panel is wrong. U-Net selector (32 channels, two levels) and a small convolutional predictor, trained together on exactly k "
    "pixels a row (method `hold`: one imputation a mask, outside the log; the scores of a row have a standard deviation of 4). Half of "
    "the rows teach both networks on the selector's masks, the others teach the predictor on masks of random size; zero imputation "
    "teaches it on the selector's masks alone, surrogate zero on fair coins. In the last fifth of the training the predictor alone "
    "learns. ACC: from the kept pixels by the method's own predictor, averaged over 20 imputations; eACC and eAUROC: by EVAL-X, a "
    "network of its own that learned on fair coins, to which masks of a few pixels are new; eACC, any rate: by one that learned on every "
    "number of pixels. Breaks: pairs of neighbours of which one is kept, for each pixel kept. On a GPU products are of half precision "
    "(bf16). LEX publishes curves only: with its mixture of logistics near 10 % of pixels best on SP-MNIST, and .97 accuracy without "
    "selection."
)
LIGHTER = (
    " Lines called full recipe are as told above, in batches of 256; all others are of a lighter one: batches of 128, a fifth of the rows "
    "under the selector's masks, and the predictor alone in the last 30 %."
)
