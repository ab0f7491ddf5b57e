"""What an explanation takes: input gradients and LIME, on the data sets of "Right for the right reasons"."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd

from .. import check
from ..data import load_data
from . import rrr
from .cells import Cell

NAME = "rrr-speed"
SETS = ("iris_cancer", "colours", "decoy_digits", "newsgroups", "decoy_mnist")
LIME_ROWS, SAMPLES = 3, 1000


def compute(cell: Cell) -> dict[str, float]:
    """Train briefly, then explain test rows: all at once by input gradients, and a few one by one by LIME for tables."""
    data = load_data(cell.data, seed=cell.seed)
    model = rrr.trained(data.train.x[:2000], data.train.y[:2000], None, seed=cell.seed, **cell.training)
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


def reproduce(*, quick: bool, seeds: int, out: Path, workers: int) -> Path:
    """Compute the table and write it."""
    sets = SETS[:1] if quick else SETS
    labels = ("input gradients", "LIME")
    cells = [Cell(name, label, label, seed, {}, {"epochs": 3}) for seed in range(seeds) for name in sets for label in labels]
    frame = rrr.run(NAME, cells, compute, quick=quick, out=out, workers=workers)
    return rrr.result(
        NAME,
        frame,
        ["data", "label"],
        ["ms"],
        quick=quick,
        seeds=seeds,
        out=out,
        title="Milliseconds an explanation: input gradients and LIME",
        notes=f"Input gradients of all test rows in batches; LIME for tables, {SAMPLES:,} samples a row and its own "
        f"choice of all else, {LIME_ROWS} rows one by one.",
        sections=[("How many gradients one explanation of LIME costs", _ratios(frame))],
        figures={},
    )


def _ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """LIME's time over that of input gradients on the same rows, the median over seeds."""
    times = frame.pivot_table(index=["data", "seed"], columns="label", values="ms", sort=False)
    ratios = (times["LIME"] / times["input gradients"]).groupby("data", sort=False).median()
    return pd.DataFrame({"data": ratios.index, "times": [f"{value:,.0f}" for value in ratios]})
