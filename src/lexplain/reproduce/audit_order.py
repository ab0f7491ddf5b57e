"""REAL-X and joint methods, ordered by the audit: methods that hide the control-flow feature encode."""

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
    """REAL-X and the joint methods with the published sizes, and L2X with one feature, which has to encode."""
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
        probabilities: np.ndarray = network(features.encode(rows).x).numpy()
        return probabilities

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
        measures=["fidelity", "fs_m_mean"],
        random_state=cell.seed + 1000,
    )
    known = {line.label: line.estimate.mean for line in card.lines}
    known["FS-M"] = known["FS-M, mean"]  # hidden features as in FS-A, which the page compares it with
    numbers = {name: known[name] for name in LINES if name in known}
    verdict = {word: float(card.verdict == word) for word in ("honest", "encodes", "cannot tell")}
    return {**numbers, "encoding": known["Encoding"], **verdict, "fit_seconds": seconds, "kept": float(known["Kept"])}


def page(results: Results) -> Page:
    """Verdicts and the measures that they rest on."""
    frame = results.frame(percent=("ACC", "eACC", "FS-M", "FS-A", "CFSR", "TPR"))
    frame["verdict"] = frame[["honest", "encodes", "cannot tell"]].idxmax(axis=1)
    frame = in_order(frame, ["data", "label"], [*SETS, *SIZES, "l2x, k = 1"])
    table = mean_and_spread(frame, ["data", "label"], [*LINES, "kept", "fit_seconds"])
    verdicts = frame.groupby(["data", "label"], sort=False)["verdict"].agg(lambda words: ", ".join(sorted(set(words))))
    table.insert(3, "verdict", verdicts.to_numpy())
    return Page(frame, [("Verdicts and measures", table)])


TABLE = Table(
    "audit-order",
    "the audit of REAL-X, L2X, INVASE and BASE-X that explain a network on S1-S3: verdicts, encoding, FS-M and FS-A",
    "The audit of REAL-X and of joint methods that explain a network, S1 to S3",
    "A network is trained on the labels. Each method explains it with the published k or lambda (REAL-X, appendix E), and `lx.audit` "
    "evaluates the explanation of 10,000 test rows with evaluators that were trained on the training rows. Encoding: information in nats "
    f"that the choice of features carries about the target beyond their values; the margin is {MARGIN:g}. ACC and AUROC are those of the "
    "method's own predictor, eACC and eAUROC those of EVAL-X; the network's predicted class is the target of both. FS-M: share of rows "
    "where the network predicts the same class from the kept features, with the others at their mean. FS-A: the same share for a network "
    "retrained on rows masked in this way. According to MEED, a high FS-A with a low FS-M shows that predictions come from the mask "
    "instead of the values.",
    cells,
    compute,
    page,
)
