"""One explainer on one data set with one seed: fitted, timed, judged, and kept."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from .. import check
from ..baselines import LIME, Baseline, KernelSHAP
from ..explainers import Explainer, FitWarning
from ..metrics import bootstrap
from .digest import digest
from .measures import ENOUGH, Evidence, Measure
from .running import write_json, write_whole
from .scene import Scene, rows_at

PER_ROW = (KernelSHAP, LIME)  # they fit a model to each row explained
FEW = 200  # rows that they explain unless told


@dataclass(frozen=True)
class Finished:
    """What came out of a cell."""

    record: dict[str, Any]  # plain values: who, where, what it cost, and the estimates by metric; or an error
    at: np.ndarray  # (b,) which test rows were explained
    values: dict[str, np.ndarray]  # one number an instance (b,), by metric


@dataclass(frozen=True)
class Cell:
    """An explainer that is not fitted yet, and where it is to prove itself."""

    name: str  # what the table calls the explainer
    explainer: Explainer | Baseline
    scene: Scene
    measures: tuple[Measure, ...]
    rows: int | None = None  # most test rows to explain

    @cached_property
    def key(self) -> str:
        """A name that the same cell always has, and no other."""
        told = digest(
            self.name, self.scene.label, self.scene.digest, self.scene.judge_steps, self.explainer, self.measures, self.most, self._network
        )
        words = "".join(c if c.isalnum() else "_" for c in f"{self.name}-{self.scene.label}")
        return f"{words}-{self.scene.seed}-{told}"

    @property
    def _network(self) -> int | None:
        return self.scene.network_steps if self.explains == "a network" else None

    @property
    def most(self) -> int:
        """How many test rows are explained."""
        total = len(self.scene.data.test)
        return min(total, self.rows or (FEW if isinstance(self.explainer, PER_ROW) else total))

    @property
    def train_rows(self) -> int:
        """How many training rows are explained, for metrics that learn from masks: all, but no more than test rows where each is dear."""
        total = len(self.scene.data.train)
        if not isinstance(self.explainer, PER_ROW):
            return total
        limit = min(total, self.rows or FEW)
        return limit if limit >= min(ENOUGH, total) else 0

    @property
    def explains(self) -> str:
        """What is explained, in the words of the table."""
        needs = getattr(self.explainer, "needs", ("y",))
        if not needs:
            return "nothing"
        if self.scene.model is not None:
            return "the model"
        if isinstance(self.explainer, Explainer):
            method = self.explainer.method
            reads = method == "meed" or getattr(method, "reads_output", False)
            return "a network" if reads or self.explainer.regime in ("self", "surrogate") else "labels"
        return "labels" if "y" in needs else "a network"

    @property
    def shared(self) -> list[str]:
        """What it needs of its scene that other cells need too."""
        judge = ["judge"] if any(measure.asks_judge for measure in self.measures) else []
        return [*judge, "network"] if self.explains == "a network" else judge

    def facts(self) -> dict[str, Any]:
        """Who and where."""
        scene = self.scene
        return {"explainer": self.name, "data": scene.label, "seed": scene.seed, "explains": self.explains, "rows": self.most}


def compute(cell: Cell, folder: Path) -> Finished:
    """Fit, explain and judge; whatever an explainer raises is what came out, so that others go on."""
    try:
        return _computed(cell, folder)
    except Exception as failure:
        return Finished({**cell.facts(), "error": f"{type(failure).__name__}: {failure}"}, np.arange(0), {})


def _computed(cell: Cell, folder: Path) -> Finished:
    scene, data = cell.scene, cell.scene.data
    explainer = clone(cell.explainer)
    model = scene.network(folder) if cell.explains == "a network" else scene.model if cell.explains == "the model" else None
    began = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # the ledger tells them
        explainer.fit(data.train.x, data.train.y if cell.explains == "labels" else None, model=model)
    fitted = perf_counter()
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(scene.seed)).numpy()
    at = np.sort(order[: cell.most])  # fewer rows are some of more
    rows, ready = rows_at(data.test.x, at), perf_counter()
    explanation = explainer.explain(rows)
    seconds = perf_counter() - ready
    asked: int = explainer.model_rows_ if isinstance(explainer, Baseline) else getattr(explainer.ask_, "rows", 0)
    check.same_features(explanation.mask.shape[1], scene.features.count)
    evidence = Evidence(scene, folder, explainer, explanation, at, train_rows=cell.train_rows)
    found = {measure.label: evidence.values(measure) for measure in cell.measures}
    values = {label: value.numpy() for label, value in found.items() if value is not None}
    cost = {"model_rows": asked, "fit_seconds": fitted - began, "explain_seconds": seconds, "ms_a_row": 1000 * seconds / len(at)}
    estimates = {}
    for label, value in values.items():
        estimate = bootstrap(torch.from_numpy(value))
        estimates[label] = [estimate.mean, estimate.low, estimate.high]
    findings = "; ".join(getattr(explainer, "findings_", []))
    return Finished({**cell.facts(), "cost": {**cost, "findings": findings}, "estimates": estimates}, at, values)


def write(done: Finished, path: Path) -> None:
    """Keep what came out of a cell; the record comes last, and says that all is there."""
    content = io.BytesIO()
    table = np.stack(list(done.values.values())) if done.values else np.zeros((0, len(done.at)))  # (metrics, b)
    np.savez_compressed(content, at=done.at, values=table)
    write_whole(path.with_suffix(".npz"), content.getvalue())
    write_json(path.with_suffix(".json"), {"format": "lexplain.cell/1", **done.record, "metrics": list(done.values)})


def read(path: Path) -> Finished | None:
    """What `write` kept, or None where it is not there whole."""
    try:
        record = json.loads(path.with_suffix(".json").read_text())
        with path.with_suffix(".npz").open("rb") as file, np.load(file) as kept:
            return Finished(record, kept["at"], dict(zip(record["metrics"], kept["values"], strict=True)))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
