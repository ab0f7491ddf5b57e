"""Cells of "Right for the right reasons": toy colours, decoys, iris and breast cancer, and newsgroups, with and without annotation."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from .. import check
from ..core import Dataset, seeded
from ..core.splits import first_tenth
from ..data import load_data
from ..data.colours import CORNERS, TOP, rule_mask
from ..data.confounded import IRIS, confound, iris_beside_cancer
from ..experiments.cell import Cell
from ..experiments.scenario import Scenario
from ..experiments.store import Record
from ..methods import METHODS
from ..objectives import Irrelevant
from ..right_reasons import AlternativeModels, RightReasons, find_another_explanation
from ..training import Settings, fit
from .table import Drawn

HIDDEN = (50, 30)  # hidden layers of the paper's network
TRAINING: dict[str, Any] = {"epochs": 64}
IRIS_TRAINING: dict[str, Any] = {"epochs": 200, "held_out": 0.0}
SHOWN = 6  # rows of a figure
WORDS = 12  # words listed per model
LIME_ROWS, SAMPLES = 3, 1000
SPLITS = 100  # random splits of iris and breast cancer
# The paper's strengths are for inputs from 0 to 255 and sums over a row's marked inputs; ours are for inputs from 0 to 1 and means.
SWEEP = tuple(10.0**power for power in range(-4, 7))


def network(inputs: int, outputs: int) -> nn.Sequential:
    """The paper's network, with hidden layers of 50 and 30."""
    return nn.Sequential(nn.Linear(inputs, HIDDEN[0]), nn.ReLU(), nn.Linear(*HIDDEN), nn.ReLU(), nn.Linear(HIDDEN[1], outputs))


def trained(
    x: np.ndarray, y: np.ndarray, mask: np.ndarray | None, *, seed: int, strength: float | str = "auto", **training: Any
) -> RightReasons:
    """The paper's network, trained with an annotation."""
    with seeded(seed):
        start = network(x.shape[1], int(y.max()) + 1)
    return RightReasons(start, strength=strength, random_state=seed, **training).fit(x, y, irrelevant_mask=mask)


def forbidden(data: Dataset, label: str) -> np.ndarray | None:
    """The annotation of this name: True = must not be used."""
    if label in ("plain", "lime"):
        return None
    if data.name == "colours":
        return rule_mask(CORNERS) if label == "no corners" else rule_mask(TOP) if label == "no top" else rule_mask(CORNERS + TOP)
    return confound(data.train)


def compute(cell: Cell, _folder: Path) -> Record:
    """Compute a cell: a fit, a search, words, a selection, or the time per explanation."""
    if cell.method == "find another":
        return compute_words(cell) if cell.label == "words" else compute_search(cell)
    if cell.method == "right reasons":
        return compute_iris(cell) if cell.data == "iris_cancer" else compute_fit(cell)
    return compute_selection(cell) if cell.method == "l2x" else compute_speed(cell)


def compute_fit(cell: Cell) -> Record:
    """Train with one annotation, and evaluate on the test rows, which do not have the confounder."""
    training = dict(cell.training)
    data = load_data(cell.data, seed=cell.seed, rows=training.pop("rows", None))
    began = time.monotonic()
    model = trained(data.train.x, data.train.y, forbidden(data, cell.label), seed=cell.seed, **cell.options, **training)
    seconds = time.monotonic() - began
    scores = {"train": model.score(data.train.x, data.train.y), "test": model.score(data.test.x, data.test.y)}
    return {**scores, **uses(model, data), "strength": model.strength_, "fit_seconds": seconds}


def uses(model: RightReasons, data: Dataset) -> dict[str, float]:
    """Shares of the large input gradients of test rows, by region."""
    mask = model.explain(data.test.x[:2000]).mask.numpy()
    if data.name == "colours":
        return {f"in {name}": float(mask[:, rule_mask(rule)].sum() / mask.sum()) for name, rule in (("corners", CORNERS), ("top", TOP))}
    return {"in confound": float((mask & confound(data.test)[:2000]).sum() / mask.sum())} if data.test.truth is not None else {}


def search(cell: Cell) -> tuple[Dataset, AlternativeModels]:
    """Find three models one after the other, without annotation."""
    training = dict(cell.training)
    rows = training.pop("rows", None)
    data = load_data(cell.data, seed=cell.seed, rows=rows)
    outputs = int(data.train.y.max()) + 1
    alternatives = find_another_explanation(
        lambda: network(data.train.x.shape[1], outputs),
        data.frame(data.train),
        data.train.y,
        max_models=3,
        max_drop=1.0,
        held_out=0.1,
        trainer=RightReasons(nn.Identity(), **training),
        random_state=cell.seed,
    )
    return data, alternatives


def compute_search(cell: Cell) -> Record:
    """Accuracy of the models of a search on rows without the confounder, and the inputs that they use."""
    data, alternatives = search(cell)
    record: dict[str, float] = {"diversity": alternatives.diversity}
    for place, model in enumerate(alternatives.models, start=1):
        record |= {f"held out {place}": alternatives.held_out_scores[place - 1], f"test {place}": model.score(data.test.x, data.test.y)}
        record |= {f"{name} {place}": share for name, share in uses(model, data).items()}
    return record


def compute_words(cell: Cell) -> Record:
    """The words with a large input gradient in most test posts, per model of a search."""
    data, alternatives = search(cell)
    names = np.array(data.frame(data.test).columns)
    counts = [(model.explain(data.test.x).mask.numpy() & (data.test.x != 0)).sum(0) for model in alternatives.models]
    words = [", ".join(names[np.argsort(-count, kind="stable")[:WORDS]]) for count in counts]
    return {f"words {place}": line for place, line in enumerate(words, start=1)}


def search_figure(cell: Cell, shape: tuple[int, ...] | None) -> Drawn:
    """Draw the models of a search on a few test rows."""
    from ..report import another_explanation

    data, alternatives = search(cell)
    titles = tuple(f"class {label}" for label in data.test.y[:SHOWN])
    return another_explanation(alternatives, data.test.x[:SHOWN], shape=shape, titles=titles)


def compute_iris(cell: Cell) -> Record:
    """One random split of the joined iris and breast cancer columns: test accuracy with the iris columns, and with these at 0."""
    x, y = iris_beside_cancer()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(cell.seed)).numpy()
    seen, test = order[:67], order[67:]
    if cell.options.get("standardised"):
        x = ((x - x[seen].mean(0)) / x[seen].std(0)).astype(np.float32)
    gone = np.where(np.arange(x.shape[1]) < IRIS, 0, x).astype(np.float32)
    mask = np.arange(x.shape[1]) < IRIS if cell.label.startswith("annotated") else None
    model = trained(x[seen], y[seen], mask, seed=cell.seed, **cell.training)
    used = model.explain(x[test]).mask.numpy()
    out = {"train": model.score(x[seen], y[seen]), "with iris": model.score(x[test], y[test]), "without": model.score(gone[test], y[test])}
    return {**out, "in iris": float(used[:, :IRIS].sum() / used.sum()), "strength": model.strength_}


def compute_selection(cell: Cell) -> Record:
    """Train L2X with a cost on keeping marked features: its predictor sees only what the selector keeps."""
    data = load_data(cell.data, seed=cell.seed)
    scene = Scenario(cell.label, data, cell.seed)
    rows = replace(scene.batch(data.train), irrelevant=torch.from_numpy(confound(data.train)))
    with seeded(cell.seed):
        method = METHODS["l2x"](scene.features, scene.outputs, keep=cell.options["keep"])
        penalties = (*method.objective.penalties, Irrelevant(cell.options["price"]))
        method.objective = replace(method.objective, penalties=penalties)
        settings = Settings(seed=cell.seed, batch_size=128, **cell.training)
        fit(method, method.phases(), *first_tenth(rows), settings)
    method.eval()
    scores = {}
    for name, part in (("train", data.train), ("test", data.test)):
        x = scene.features.encode(part.x).x
        _, mask = method.explain(x)
        scores[name] = float((method.probabilities(x, mask).argmax(1).numpy() == part.y).mean())
    return {**scores, "in confound": float((mask.numpy() & confound(data.test)).sum() / mask.sum())}


def compute_speed(cell: Cell) -> Record:
    """Train briefly, then explain test rows: all at once by input gradients, or a few one by one by LIME for tables."""
    data = load_data(cell.data, seed=cell.seed)
    model = trained(data.train.x[:2000], data.train.y[:2000], None, seed=cell.seed, **cell.training)
    rows = data.test.x
    if cell.label == "input gradients":
        model.input_gradients(rows[:2])  # warm up
        began = time.perf_counter()
        model.input_gradients(rows)
        return {"ms": 1000 * (time.perf_counter() - began) / len(rows)}
    lime = check.require("lime.lime_tabular", extra="peers")
    explainer = lime.LimeTabularExplainer(data.train.x[:2000], discretize_continuous=False, random_state=cell.seed)
    began = time.perf_counter()
    for row in rows[:LIME_ROWS]:
        explainer.explain_instance(np.asarray(row), model.predict_proba, num_samples=SAMPLES)
    return {"ms": 1000 * (time.perf_counter() - began) / LIME_ROWS}
