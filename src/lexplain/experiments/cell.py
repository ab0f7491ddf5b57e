"""One experiment of a table or a comparison. A comparison fits, times and evaluates an explainer in a scenario."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from .. import check
from ..auditing import ClassSelection, make_callables
from ..core import ExplainerFace
from ..core.digest import digest, short_digest
from ..core.rows import take_rows
from ..evaluation import Others
from ..explainers import FitWarning
from ..measures import Measure, estimate_of, values_of
from .scenario import Scenario

FEW_ROWS = 200  # default number of rows for explainers that fit a model to each row
MIN_MASKS = 1000  # training rows whose masks must be known, or all: with fewer, mask readers do not detect encoding
UNSAFE = str.maketrans(dict.fromkeys(' /\\:*?"<>|', "_"))  # characters that some file systems do not allow


@dataclass(frozen=True)
class Contest:
    """An unfitted explainer, the scenario to evaluate it in, and the measures."""

    explainer: ExplainerFace
    scene: Scenario
    measures: tuple[Measure, ...]
    rows: int | None = None  # maximum number of test rows to explain

    @property
    def test_rows(self) -> int:
        """Number of test rows that are explained."""
        total = len(self.scene.data.test)
        return min(total, self.rows or (FEW_ROWS if self.explainer.fits_each_row else total))

    @property
    def train_rows(self) -> int:
        """Number of training rows that are explained, for the mask readers: all, or as many as test rows if each needs its own fit."""
        total = len(self.scene.data.train)
        if not self.explainer.fits_each_row:
            return total
        limit = min(total, self.rows or FEW_ROWS)
        return limit if limit >= min(MIN_MASKS, total) else 0

    @property
    def explains(self) -> str:
        """What is explained, as in the column `explains`: "nothing", "the model", "labels" or "a network"."""
        needs = self.explainer.needs_of(self.scene.features)
        if not needs:
            return "nothing"
        return "the model" if self.scene.model is not None else "labels" if "y" in needs else "a network"

    def cell(self, name: str) -> Cell:
        """The cell of this contest. `name` is that of the explainer in the table."""
        scene, network = self.scene, self.scene.network_steps if self.explains == "a network" else None
        content = digest(scene.digest, scene.evaluator_steps, self.explainer, self.measures, self.test_rows, network)
        return Cell(scene.label, name, "compare", scene.seed, {"digest": content}, work=self)


@dataclass(frozen=True)
class Cell:
    """One experiment, a fit and its evaluation, described by plain values."""

    data: str
    label: str  # row of the table
    method: str  # name of a recipe, or another kind of experiment
    seed: int
    options: dict[str, Any] = field(default_factory=dict)  # of the method, plain values
    training: dict[str, Any] = field(default_factory=dict)  # of the training
    work: Contest | None = field(
        default=None, compare=False, repr=False
    )  # in a comparison: the objects that the digest in options describes

    @property
    def key(self) -> str:
        """Unique name of the cell, and of its file. The same settings always give the same key."""
        return f"{self.data}-{self.label}-{self.seed}-{short_digest(self.facts())}".translate(UNSAFE)

    def facts(self) -> dict[str, Any]:
        """The settings of the cell as plain values, for its record."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "work"}


def shares(cell: Cell, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """What several cells of a scenario need: the evaluator, and the network that is explained."""
    contest = cell.work
    assert contest is not None  # set by `Contest.cell`
    if any(measure.needs_evaluator for measure in contest.measures):
        yield f"evaluator {contest.scene.digest}", partial(_train_evaluator, contest.scene, folder)
    if contest.explains == "a network":
        yield f"network {contest.scene.digest}", partial(contest.scene.network, folder)


def _train_evaluator(scene: Scenario, folder: Path) -> None:
    scene.evaluators(folder).of()


def compute(cell: Cell, folder: Path) -> dict[str, Any]:
    """Fit, explain and evaluate. An error of the explainer is recorded, so that other cells are still computed."""
    contest = cell.work
    assert contest is not None  # set by `Contest.cell`
    facts = {"explainer": cell.label, "explains": contest.explains, "rows": contest.test_rows}
    try:
        return {**facts, **_computed(contest, folder)}
    except Exception as failure:
        return {**facts, "error": f"{type(failure).__name__}: {failure}"}


def _computed(contest: Contest, folder: Path) -> dict[str, Any]:
    scene, data = contest.scene, contest.scene.data
    explainer: ExplainerFace = clone(contest.explainer)
    model = scene.network(folder) if contest.explains == "a network" else scene.model if contest.explains == "the model" else None
    began = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # they are recorded with the costs
        explainer.fit(data.train.x, data.train.y if contest.explains == "labels" else None, model=model)
    fitted = perf_counter()
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(scene.seed)).numpy()
    index = np.sort(order[: contest.test_rows])  # a smaller number of rows is a subset of a larger one
    rows, ready = take_rows(data.test.x, index), perf_counter()
    explanation = explainer.explain(rows)
    seconds = perf_counter() - ready
    check.same_features(explanation.mask.shape[1], scene.features.count)
    model_rows = explainer.model_rows_  # without the queries for explaining training rows
    learned = np.sort(np.random.default_rng(scene.seed).permutation(len(data.train))[: contest.train_rows])

    def explain_training_rows() -> tuple[torch.Tensor, torch.Tensor]:
        explained = explainer.explain(take_rows(data.train.x, learned))
        return explained.scores, explained.mask

    train, enough, one_class = scene.batch(data.train), len(learned) > 0, ClassSelection(scene.target.classes, None)
    evaluation = scene.evaluation(
        explanation,
        scene.evaluators(folder),
        Others(train.take(torch.from_numpy(learned)), explain_training_rows) if enough else Others(train),
        at=index,
        has_enough_masks=enough,
        callables=make_callables(
            explainer, model, scene.features, real=scene.outputs.real, one_class=one_class, known_rows=(rows, data.train.x)
        ),
    )
    results = values_of(evaluation, contest.measures)
    numbers = {key: [e.mean, e.low, e.high] for key, value in results.items() if (e := estimate_of(value))}
    values = {key: value.numpy() for key, value in results.items() if isinstance(value, torch.Tensor) and len(value) == len(index)}
    cost = {"model_rows": model_rows, "fit_seconds": fitted - began, "explain_seconds": seconds, "ms_a_row": 1000 * seconds / len(index)}
    return {
        "cost": {**cost, "findings": "; ".join(explainer.findings_)},
        "estimates": numbers,
        "measured": list(values),
        "at": index,
        "values": np.stack(list(values.values())) if values else np.zeros((0, len(index))),  # (measures, b)
    }
