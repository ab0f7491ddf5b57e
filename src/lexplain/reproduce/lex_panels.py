"""LEX, switching panels: how much of a selection lies in the wrong panel, over selection rates and for every imputation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from .cells import Cell
from .gallery import gallery
from .images import run
from .tables import mean_and_spread, write_result

NAMES = ("lex-sp-mnist", "lex-sp-fashion")
RATES = {"sp_mnist": (0.02, 0.05, 0.1, 0.2), "sp_fashion": (0.25,)}
AT = {"sp_mnist": 0.1, "sp_fashion": 0.25}  # where imputations are compared
JUDGES = ["EVAL-X", "EVAL-X, any rate"]
SIZE: dict[str, Any] = {"steps": 4000, "batch_size": 128, "judge_steps": 6000, "judges": JUDGES}
QUICK: dict[str, Any] = {"rows": 2000, "steps": 300, "batch_size": 64, "judge_steps": 300, "judges": JUDGES}
RECIPE: dict[str, Any] = {"spread": 4.0, "last": 0.3}
ROWS = ("Marginal", dict[str, Any]())
BEST, ZERO = "marginal", "zero"
OWN: dict[str, Any] = {"own_share": 0.2}
MIXTURE: dict[str, Any] = {"components": 20, "jitter": 1 / 255}
LOGISTIC: dict[str, Any] = {"components": 20}
# Zero imputation as LEX has it: the predictor learns on the selector's masks. Surrogate zero, as in REAL-X: on random ones.
IMPUTATIONS: dict[str, dict[str, Any]] = {
    BEST: {"imputer": ROWS, **OWN},
    ZERO: {"imputer": ("Constant", {"value": 0.0}), "own_share": 1.0},
    "surrogate zero": {"imputer": ("Constant", {"value": 0.0}), "surrogate": True},
    "GMM": {"imputer": ("GaussianMixture", MIXTURE), **OWN},
    "means of GMM": {"imputer": ("MixtureMeans", MIXTURE), **OWN},
    "GMM dataset": {"imputer": ("MixtureRows", MIXTURE), **OWN},
    "k-means dataset": {"imputer": ("KMeansRows", {"components": 20}), **OWN},
    "mixture of logistics": {"imputer": ("LogisticMixture", LOGISTIC), **OWN},
    "means of logistics": {"imputer": ("LogisticMeans", LOGISTIC), **OWN},
    "VAEAC": {"imputer": ("VAEAC", dict[str, Any]()), **OWN},
}
FEW_SEEDS, WIDTH = 2, 32  # seeds of all but the best line; channels of the finest view of the U-Net


def cells(name: str, *, quick: bool, seeds: int) -> list[Cell]:
    """Both lines over all rates, and every imputation at one."""
    data = name.replace("lex-", "").replace("-", "_")
    size = QUICK if quick else SIZE
    at, rates = AT[data], (AT[data],) if quick else RATES[data]
    width = {"width": 8 if quick else WIDTH}
    few = min(seeds, FEW_SEEDS)
    wanted = [(BEST, rate, seed) for seed in range(seeds) for rate in sorted(rates, key=lambda rate: abs(rate - at))]
    wanted += [(ZERO, rate, seed) for seed in range(few) for rate in sorted(rates, key=lambda rate: abs(rate - at))]
    wanted += [] if quick else [(label, at, seed) for seed in range(few) for label in IMPUTATIONS if label not in (BEST, ZERO)]
    return [Cell(data, label, "hold", seed, {**RECIPE, **IMPUTATIONS[label], **width, "keep": rate}, size) for label, rate, seed in wanted]


def reproduce(name: str, *, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Compute the curves and the table, and draw them."""
    folder = out / (f"{name}-quick" if quick else name)
    made = cells(name, quick=quick, seeds=seeds)
    frame = run(made, folder, workers=workers)
    frame["rate"] = [100 * options["keep"] for options in frame["options"]]
    frame[["ACC", "eACC", "eACC, any rate", "wrong"]] *= 100
    frame = frame.rename(columns={"wrong": "wrong panel"})
    columns = ["wrong panel", "ACC", "eACC", "eACC, any rate", "eAUROC", "breaks", "fit_seconds"]
    over = frame[frame["label"].isin((BEST, ZERO))].sort_values(["label", "rate"], kind="stable")
    at = frame[frame["rate"] == 100 * AT[made[0].data]]
    order = {label: place for place, label in enumerate(IMPUTATIONS)}
    at = at.sort_values("label", key=lambda column: column.map(order), kind="stable")
    return write_result(
        folder,
        title=f"LEX, switching panels ({made[0].data})",
        command=f"lexplain reproduce {name}{' --quick' if quick else ''} --seeds {seeds}",
        notes=NOTES,
        frame=frame,
        sections=[
            ("Over selection rates (% of pixels)", mean_and_spread(over, ["label", "rate"], columns)),
            (f"Imputations at {100 * AT[made[0].data]:g} % of pixels", mean_and_spread(at, ["label"], [*columns, "imputer_seconds"])),
        ],
        figures=_figures(over, at) | _pictures(made, folder, AT[made[0].data]),
    )


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


def _pictures(made: list[Cell], folder: Path, rate: float) -> dict[str, Any]:
    drawn = gallery([cell for cell in made if cell.seed == 0 and cell.options["keep"] == rate], folder)
    return {} if drawn is None else {"kept": drawn}


NOTES = (
    "A digit and a piece of clothing lie side by side in random order; the label is that of one of them, so that any pixel kept in the "
    "other panel is wrong. U-Net selector (32 channels, two levels) and a small convolutional predictor, trained together on exactly k "
    "pixels a row (method `hold`: one imputation a mask, outside the log; the scores of a row have a standard deviation of 4). A fifth of "
    "the rows teach both networks on the selector's masks, the others teach the predictor on masks of random size; zero imputation "
    "teaches it on the selector's masks alone, surrogate zero on fair coins. In the last 30 % of the training the predictor alone learns. "
    "ACC: from the kept pixels by the method's own predictor, averaged over 20 imputations; eACC and eAUROC: by EVAL-X, a network of its "
    "own that learned on fair coins, to which masks of a few pixels are new; eACC, any rate: by one that learned on every number of "
    "pixels. Breaks: pairs of neighbours of which one is kept, for each pixel kept. On a GPU products are of half precision (bf16). LEX "
    "publishes curves only: with its mixture of logistics near 10 % of pixels best on SP-MNIST, and .97 accuracy without selection."
)
