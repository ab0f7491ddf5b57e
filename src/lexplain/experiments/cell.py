"""One explainer on one data set with one seed: fitted, timed, judged, and kept."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from .. import check
from ..auditing import ClassSelection, Measure, estimate_of, questions, values_of
from ..baselines import Baseline
from ..core import Explanation
from ..core.contracts import Model
from ..core.digest import digest
from ..core.rows import take_rows
from ..evaluation import Evaluation, Others, Run
from ..explainers import Explainer, FitWarning, chosen_recipe
from ..training import fabric_of
from .scene import Scene

FEW_ROWS = 200  # that explainers which fit a model to each row explain unless told
MIN_MASKS = 1000  # training rows whose masks must be known, or all: from fewer a reader of masks learns too little to find encoding


@dataclass(frozen=True)
class Finished:
    """What came out of a cell."""

    record: dict[str, Any]  # plain values: who, where, what it cost, and the estimates by key; or an error
    at: np.ndarray  # (b,) which test rows were explained
    values: dict[str, np.ndarray]  # one number an instance (b,), by the key of a measure


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
    def _fits_each_row(self) -> bool:
        return isinstance(self.explainer, Baseline) and self.explainer.fits_each_row

    @property
    def most(self) -> int:
        """How many test rows are explained."""
        total = len(self.scene.data.test)
        return min(total, self.rows or (FEW_ROWS if self._fits_each_row else total))

    @property
    def train_rows(self) -> int:
        """How many training rows are explained, for measures that learn from masks: all, but no more than test rows where each is dear."""
        total = len(self.scene.data.train)
        if not self._fits_each_row:
            return total
        limit = min(total, self.rows or FEW_ROWS)
        return limit if limit >= min(MIN_MASKS, total) else 0

    @property
    def explains(self) -> str:
        """What is explained, in the words of the table."""
        needs = self.explainer.needs if isinstance(self.explainer, Baseline) else ("y",)
        if not needs:
            return "nothing"
        if self.scene.model is not None:
            return "the model"
        if isinstance(self.explainer, Explainer):
            reads = chosen_recipe(self.explainer.method, self.scene.features).reads_output
            return "a network" if reads or self.explainer.regime in ("self", "surrogate") else "labels"
        return "labels" if "y" in needs else "a network"

    @property
    def shared(self) -> list[str]:
        """What it needs of its scene that other cells need too."""
        judge = ["judge"] if any(measure.judged for measure in self.measures) else []
        return [*judge, "network"] if self.explains == "a network" else judge

    def facts(self) -> dict[str, Any]:
        """Who and where."""
        scene = self.scene
        return {"explainer": self.name, "data": scene.label, "seed": scene.seed, "explains": self.explains, "rows": self.most}


def compute(cell: Cell, folder: Path) -> dict[str, Any]:
    """Fit, explain and judge; whatever an explainer raises is what came out, so that others go on."""
    try:
        done = _computed(cell, folder)
    except Exception as failure:
        return {"error": f"{type(failure).__name__}: {failure}"}
    table = np.stack(list(done.values.values())) if done.values else np.zeros((0, len(done.at)))  # (measures, b)
    return {**done.record, "measured": list(done.values), "at": done.at, "values": table}


def finished_of(record: Mapping[str, Any]) -> Finished:
    """What came out of a cell, of its record in a store."""
    if "error" in record:
        return Finished(dict(record), np.arange(0), {})
    plain = {name: value for name, value in record.items() if name not in ("at", "values")}
    return Finished(plain, record["at"], dict(zip(record["measured"], record["values"], strict=True)))


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
    rows, ready = take_rows(data.test.x, at), perf_counter()
    explanation = explainer.explain(rows)
    seconds = perf_counter() - ready
    check.same_features(explanation.mask.shape[1], scene.features.count)
    asked = (
        explainer.model_rows_
        if isinstance(explainer, Baseline)
        else 0
        if explainer.model_function_ is None
        else explainer.model_function_.rows
    )
    found = values_of(evaluation_of(cell, folder, explainer, explanation, at, model), cell.measures)
    estimates = {key: estimate_of(value) for key, value in found.items()}
    values = {key: value.numpy() for key, value in found.items() if isinstance(value, torch.Tensor) and len(value) == len(at)}
    cost = {"model_rows": asked, "fit_seconds": fitted - began, "explain_seconds": seconds, "ms_a_row": 1000 * seconds / len(at)}
    findings = "; ".join(getattr(explainer, "findings_", []))
    numbers = {key: [e.mean, e.low, e.high] for key, e in estimates.items()}
    return Finished({"cost": {**cost, "findings": findings}, "estimates": numbers}, at, values)


def evaluation_of(
    cell: Cell, folder: Path, explainer: Explainer | Baseline, explanation: Explanation, at: np.ndarray, model: Model
) -> Evaluation:
    """What is known of the test rows (indices `at`) that a fitted explainer explained."""
    scene, data, features = cell.scene, cell.scene.data, cell.scene.features
    learned = np.sort(np.random.default_rng(scene.seed).permutation(len(data.train))[: cell.train_rows])

    def explain_training_rows() -> tuple[torch.Tensor, torch.Tensor]:
        theirs = explainer.explain(take_rows(data.train.x, learned))
        return theirs.scores, theirs.mask

    train, enough = scene.trial(data.train), len(learned) > 0
    target = scene.test_target
    return Evaluation(
        explanation,
        features,
        scene.trial(data.test).take(torch.from_numpy(at)),
        replace(target, values=target.values[torch.from_numpy(at)]),
        Run(fabric_of("cpu"), scene.seed),
        scene.evaluators(folder),
        Others(train.take(torch.from_numpy(learned)), explain_training_rows) if enough else Others(train),
        reads_masks=enough,
        truth=None if data.test.truth is None else features.truth(np.asarray(data.test.truth)[at], len(at)),
        control_flow=data.control_flow,
        questions=questions(explainer, model, features, real=scene.outputs.real, one_class=ClassSelection(scene.target.classes, None)),
    )
