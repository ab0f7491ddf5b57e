"""REAL-X's order from the audit alone: who hides the control flow encodes, and a fresh model can read it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from ..auditing import MARGIN, audit
from ..core.contracts import RawRows
from ..evaluation import retrain
from ..experiments.cell import Cell
from ..experiments.scenario import scene_of
from ..explainers import Explainer
from .page import mean_and_spread
from .realx_table1 import SETS, SIZES, TRAINING
from .table import Page, Results, Table, in_order

LINES = ("encoding", "ACC", "eACC", "AUROC", "eAUROC", "FS-M", "FS-A", "CFSR", "TPR")


def cells(quick: bool, seeds: int) -> list[Cell]:
    """REAL-X and the joint methods with the published sizes, and L2X with one feature, which can but encode."""
    less: dict[str, Any] = {"epochs": 5, "rows": 500} if quick else {}
    made = []
    for seed in range(seeds):
        for data in SETS[:1] if quick else SETS:
            made += [Cell(data, name, name, seed, sizes[data], TRAINING[name] | less) for name, sizes in SIZES.items()]
            made.append(Cell(data, "l2x, k = 1", "l2x", seed, {"keep": 1}, TRAINING["l2x"] | less))
    return made


def compute(cell: Cell, _folder: Path) -> dict[str, float]:
    """Train a network, fit the explainer to it, and audit the explanation of the test rows."""
    scene = scene_of(cell.data, cell.seed, cell.training.get("rows"))
    data, features = scene.data, scene.features
    network = retrain(scene.batch(data.train), features, scene.outputs, seed=cell.seed)

    def model(rows: RawRows) -> np.ndarray:
        said: np.ndarray = network(features.encode(rows).x).numpy()
        return said

    began = time.monotonic()
    settings = {"epochs": cell.training["epochs"], "learning_rate": cell.training["learning_rate"]}
    explainer = Explainer(cell.method, random_state=cell.seed, **settings, **cell.options).fit(data.train.x, model=model)
    seconds = time.monotonic() - began
    card = audit(
        explainer.explain(data.test.x),
        data.test.x,
        model=model,
        train=(data.train.x, None, explainer.explain(data.train.x)),
        truth=data.test.truth,
        control_flow=data.control_flow,
        measures=["fidelity"],
        random_state=cell.seed + 1000,
    )
    known = {line.label: line.estimate.mean for line in card.lines}
    numbers = {name: known[name] for name in LINES if name in known}
    verdict = {word: float(card.verdict == word) for word in ("honest", "encodes", "cannot tell")}
    return {**numbers, "encoding": known["Encoding"], **verdict, "fit_seconds": seconds, "kept": float(known["Kept"])}


def page(results: Results) -> Page:
    """Verdicts beside the evidence."""
    frame = results.frame(percent=("ACC", "eACC", "FS-M", "FS-A", "CFSR", "TPR"))
    frame["verdict"] = frame[["honest", "encodes", "cannot tell"]].idxmax(axis=1)
    frame = in_order(frame, ["data", "label"], [*SETS, *SIZES, "l2x, k = 1"])
    table = mean_and_spread(frame, ["data", "label"], [*LINES, "kept", "fit_seconds"])
    said = frame.groupby(["data", "label"], sort=False)["verdict"].agg(lambda words: ", ".join(sorted(set(words))))
    table.insert(3, "verdict", said.to_numpy())
    return Page(frame, [("Verdicts and evidence", table)])


TABLE = Table(
    "audit-order",
    "the audit of REAL-X, L2X, INVASE and BASE-X that explain a network on S1-S3: verdicts, encoding, FS-M and FS-A",
    "The audit of REAL-X and of joint methods that explain a network, S1 to S3",
    "A network learns the labels; each method explains it with the published k or lambda (REAL-X, appendix E), and `lx.audit` judges the "
    "explanation of 10,000 test rows by judges that learned from the training rows. Encoding: nats that the choice of the mask tells "
    f"beyond what it shows, against a margin of {MARGIN:g}. ACC and AUROC are those of the method's own predictor, eACC and eAUROC those "
    "of EVAL-X, all of the network's answers. FS-M: the network itself says the same from the kept features, the others at their mean; "
    "FS-A: a fresh network that learned from rows masked in this way does. FS-A high with FS-M low is MEED's sign of a mask that is read "
    "instead of the values.",
    cells,
    compute,
    page,
)
