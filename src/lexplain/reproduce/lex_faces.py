"""LEX, faces: the share of the explanation of a smile that is on the mouth."""

from __future__ import annotations

from typing import Any

from ..data import load_data
from ..experiments.cell import Cell
from .images import compute, shares
from .page import mean_and_spread, strip_of_seeds
from .table import Page, Results, Table

OTHER_RATES = (0.05, 0.2)
SIZE: dict[str, Any] = {"steps": 2000, "batch_size": 128, "judge_steps": 1500, "networks": "deep"}
QUICK: dict[str, Any] = {"rows": 1000, "steps": 100, "batch_size": 32, "judge_steps": 100}
BEST = "means of GMM"
MIXTURE: dict[str, Any] = {"components": 20, "jitter": 1 / 255, "rows": 2000}
# As in lex-sp-mnist: the predictor is trained on random masks; with zero imputation on the selector's masks, as in LEX.
LINES: dict[str, dict[str, Any]] = {
    BEST: {"imputer": ("MixtureMeans", MIXTURE), "own_share": 0.0},
    f"{BEST}, connected": {"imputer": ("MixtureMeans", MIXTURE), "own_share": 0.0, "connected": 0.003},
    "GMM": {"imputer": ("GaussianMixture", MIXTURE), "own_share": 0.0},
    "zero": {"imputer": ("Constant", {"value": 0.0}), "own_share": 1.0},
}


def cells(quick: bool, seeds: int) -> list[Cell]:
    """All imputations at a rate of 10 %, then the best one at other rates."""
    size, width = (QUICK, 8) if quick else (SIZE, 16)
    lines = [(label, 0.1) for label in LINES] + ([] if quick else [(BEST, rate) for rate in OTHER_RATES])
    return [
        Cell("faces", label, "sufficient", seed, {**LINES[label], "width": width, "keep": rate}, size)
        for seed in range(seeds)
        for label, rate in lines
    ]


def page(results: Results) -> Page:
    """The share of the explanations that is on the mouth. Faces are not drawn."""
    frame = results.frame(percent=("ACC", "eACC", "FULL ACC", "wrong"))
    frame["rate"] = [100 * options["keep"] for options in frame["options"]]
    frame["inside the box"] = 100 - frame["wrong"]
    truth = load_data("faces", seed=0, rows=results.cells[0].training.get("rows")).test.truth
    assert truth is not None
    chance = 100 * float(truth.mean())
    title, called = "Share of the explanation of a smile on the mouth", f"by chance: {chance:.1f}"
    columns = ["inside the box", "ACC", "eACC", "eAUROC", "FULL ACC", "breaks", "fit_seconds"]
    frame = frame.sort_values(["label", "rate"], kind="stable")
    axis, tenth = "% of the kept patches inside the box", frame[frame["rate"] == 10]
    return Page(
        frame,
        [("Over selection rates (% of patches)", mean_and_spread(frame, ["label", "rate"], columns))],
        {"inside": lambda: strip_of_seeds(tenth, "inside the box", axis, line=chance, title=title, called=called)},
        f"The box covers {chance:.1f} % of the patches of the test images.",
    )


TABLE = Table(
    "lex-faces",
    "LEX: the share of the explanation of a smile that is on the mouth",
    "LEX, smiling faces, 4 x 4 patches of 64 x 64 pixels",
    "The label is smiling or not (MTFL; the paper uses CelebA). Inside the box: % of the kept patches in an oriented box around the mouth, "
    "from the two landmarks at its ends; it is as long as the mouth and twice as high (the paper's text). The method is `sufficient`. Its "
    "predictor is trained on random masks until the selector is finished (with zero imputation, on the selector's masks). Connected: with "
    "a cost of 0.003 nats per pair of neighbours with only one of them kept. Breaks: number of such pairs per kept patch. ACC and eACC: as "
    "in lex-sp-mnist. FULL ACC: accuracy of a network that sees the full image.",
    cells,
    compute,
    page,
    shares=shares,
)
