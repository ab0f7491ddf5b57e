"""One experiment, computed once; and what a comparison computes: an explainer is fitted, timed and judged on a scene."""

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

FEW_ROWS = 200  # that explainers which fit a model to each row explain unless told
MIN_MASKS = 1000  # training rows whose masks must be known, or all: from fewer a reader of masks learns too little to find encoding
UNSAFE = str.maketrans(dict.fromkeys(' /\\:*?"<>|', "_"))  # what names of files may not hold everywhere


@dataclass(frozen=True)
class Contest:
    """An explainer that is not fitted yet, and where it is to prove itself."""

    explainer: ExplainerFace
    scene: Scenario
    measures: tuple[Measure, ...]
    rows: int | None = None  # most test rows to explain

    @property
    def most(self) -> int:
        """How many test rows are explained."""
        total = len(self.scene.data.test)
        return min(total, self.rows or (FEW_ROWS if self.explainer.fits_each_row else total))

    @property
    def train_rows(self) -> int:
        """How many training rows are explained, for measures that learn from masks: all, but no more than test rows where each is dear."""
        total = len(self.scene.data.train)
        if not self.explainer.fits_each_row:
            return total
        limit = min(total, self.rows or FEW_ROWS)
        return limit if limit >= min(MIN_MASKS, total) else 0

    @property
    def explains(self) -> str:
        """What is explained, in the words of the table."""
        needs = self.explainer.needs_of(self.scene.features)
        if not needs:
            return "nothing"
        return "the model" if self.scene.model is not None else "labels" if "y" in needs else "a network"

    def cell(self, name: str) -> Cell:
        """The cell of this contest, by the name that its explainer has in the table."""
        scene, network = self.scene, self.scene.network_steps if self.explains == "a network" else None
        told = digest(scene.digest, scene.evaluator_steps, self.explainer, self.measures, self.most, network)
        return Cell(scene.label, name, "compare", scene.seed, {"digest": told}, work=self)


@dataclass(frozen=True)
class Cell:
    """One experiment: a fit and how it is judged, told by plain values."""

    data: str
    label: str  # the row of the table it belongs to
    method: str  # a recipe's name, or what else is done
    seed: int
    options: dict[str, Any] = field(default_factory=dict)  # of the method, plain values
    training: dict[str, Any] = field(default_factory=dict)  # of the training
    work: Contest | None = field(default=None, compare=False, repr=False)  # of a comparison: the objects that its options are a digest of

    @property
    def key(self) -> str:
        """A name that the same cell always has, and no other: that of its file."""
        return f"{self.data}-{self.label}-{self.seed}-{short_digest(self.facts())}".translate(UNSAFE)

    def facts(self) -> dict[str, Any]:
        """What it is, in plain values, to stand at the head of its record."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "work"}


def shares(cell: Cell, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """What a cell needs of its scene that others need too."""
    contest = cell.work
    assert contest is not None  # `Contest.cell` gives it
    if any(measure.needs_evaluator for measure in contest.measures):
        yield f"judge {contest.scene.digest}", partial(_train_judge, contest.scene, folder)
    if contest.explains == "a network":
        yield f"network {contest.scene.digest}", partial(contest.scene.network, folder)


def _train_judge(scene: Scenario, folder: Path) -> None:
    scene.evaluators(folder).of()


def compute(cell: Cell, folder: Path) -> dict[str, Any]:
    """Fit, explain and judge; whatever an explainer raises is what came out, so that others go on."""
    contest = cell.work
    assert contest is not None  # `Contest.cell` gives it
    facts = {"explainer": cell.label, "explains": contest.explains, "rows": contest.most}
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
        warnings.simplefilter("ignore", FitWarning)  # the ledger tells them
        explainer.fit(data.train.x, data.train.y if contest.explains == "labels" else None, model=model)
    fitted = perf_counter()
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(scene.seed)).numpy()
    at = np.sort(order[: contest.most])  # fewer rows are some of more
    rows, ready = take_rows(data.test.x, at), perf_counter()
    explanation = explainer.explain(rows)
    seconds = perf_counter() - ready
    check.same_features(explanation.mask.shape[1], scene.features.count)
    asked = explainer.model_rows_  # before the training rows are explained, which the ledger must not count
    learned = np.sort(np.random.default_rng(scene.seed).permutation(len(data.train))[: contest.train_rows])

    def explain_training_rows() -> tuple[torch.Tensor, torch.Tensor]:
        theirs = explainer.explain(take_rows(data.train.x, learned))
        return theirs.scores, theirs.mask

    train, enough, one_class = scene.batch(data.train), len(learned) > 0, ClassSelection(scene.target.classes, None)
    evaluation = scene.evaluation(
        explanation,
        scene.evaluators(folder),
        Others(train.take(torch.from_numpy(learned)), explain_training_rows) if enough else Others(train),
        at=at,
        has_enough_masks=enough,
        callables=make_callables(explainer, model, scene.features, real=scene.outputs.real, one_class=one_class),
    )
    found = values_of(evaluation, contest.measures)
    numbers = {key: [e.mean, e.low, e.high] for key, value in found.items() if (e := estimate_of(value))}
    values = {key: value.numpy() for key, value in found.items() if isinstance(value, torch.Tensor) and len(value) == len(at)}
    cost = {"model_rows": asked, "fit_seconds": fitted - began, "explain_seconds": seconds, "ms_a_row": 1000 * seconds / len(at)}
    return {
        "cost": {**cost, "findings": "; ".join(explainer.findings_)},
        "estimates": numbers,
        "measured": list(values),
        "at": at,
        "values": np.stack(list(values.values())) if values else np.zeros((0, len(at))),  # (measures, b)
    }
