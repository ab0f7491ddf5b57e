"""The encoding test on selectors whose honesty is known: how often it sees what was planted, and how often it sees what is not there."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from scipy.stats import binomtest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor

from ..auditing import MARGIN, judge
from ..core import Classes, Dataset, Explanation, Part, seeded
from ..core.splits import first_tenth
from ..data import load_data
from ..evaluation import Evaluation, Evaluators, Others, Run as Judging
from ..features import Columns
from ..methods import METHODS
from ..models import from_labels
from ..training import Settings, fabric_of, fit
from .cells import Cell, Run, trial_of
from .planted import ENCODERS, HONEST
from .tables import mark_of, write_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "audit-power"
SETS = ("s1", "s2", "s3")
ROWS = 3000  # to learn from, and as many to judge
JUDGE_STEPS = 1000
OTHER = 1_000_000  # added to the seed of rows that a method learns from
L2X, REALX = "L2X, k = 1, digits", "REAL-X"
# Kinds that encode have as many draws as there are seeds, honest ones half as many each.
PLANTED = (*ENCODERS, L2X)
SAFE = (*HONEST, REALX)
SIZES: dict[str, dict[str, Any]] = {"s1": {"penalty": 0.05}, "s2": {"penalty": 0.05}, "s3": {"penalty": 0.1}, "digits": {"keep": 1}}
TRAINING: dict[str, dict[str, Any]] = {
    REALX: {"epochs": 200, "batch_size": 250, "learning_rate": 1e-3},
    L2X: {"epochs": 60, "batch_size": 100, "learning_rate": 1e-3},
}


def cells(*, quick: bool, seeds: int) -> list[Cell]:
    """Every draw; the sets take turns, and draws of one judge follow each other."""
    size: dict[str, Any] = {"rows": 600, "judge_steps": 200} if quick else {"rows": ROWS, "judge_steps": JUDGE_STEPS}
    made = []
    for seed in range(seeds):
        kinds = [*PLANTED, *(SAFE if seed < (seeds + 1) // 2 else ())]
        for kind in kinds:
            data, method = ("digits", "l2x") if kind == L2X else (SETS[seed % len(SETS)], "realx" if kind == REALX else "planted")
            learned = {**TRAINING[kind], **({"epochs": 5} if quick else {})} if kind in TRAINING else {}
            made.append(Cell(data, kind, method, seed, SIZES[data] if learned else {}, {**size, **learned}))
    return made


@lru_cache(maxsize=4)
def _draw(name: str, rows: int, steps: int, seed: int) -> tuple[Dataset, Columns, Classes, Evaluators]:
    """Rows of one draw and their judge, which all kinds of selectors share: it knows none of them."""
    data = _digits(seed) if name == "digits" else load_data(name, seed=seed, rows=rows)
    features, outputs = Columns().fit(data.train.x), Classes(int(data.train.y.max()) + 1)
    evaluators = Evaluators(features, outputs, seed=seed, rows=trial_of(features, data.train), split=first_tenth, steps=steps)
    evaluators.of()  # now, so that no test is timed with it
    return data, features, outputs, evaluators


def _digits(seed: int) -> Dataset:
    """Scikit-learn's 1,797 digits of 8 x 8 pixels: half to learn from, half to judge."""
    x, y = load_digits(return_X_y=True)
    parts = train_test_split(x.astype(np.float32), y.astype(np.int64), test_size=0.5, stratify=y, random_state=seed)
    train, test = Part(parts[0], parts[2]), Part(parts[1], parts[3])
    return Dataset("digits", "8 x 8 pixels", train, test, test, tuple(f"pixel {j}" for j in range(x.shape[1])))


def compute(cell: Cell) -> dict[str, Any]:
    """Let one selector choose masks of one draw's rows, and test them."""
    began = time.monotonic()
    data, features, outputs, evaluators = _draw(cell.data, cell.training["rows"], cell.training["judge_steps"], cell.seed)
    train, test = trial_of(features, data.train), trial_of(features, data.test)
    masks = _learned(cell, features, outputs, data) if cell.label in TRAINING else _planted(cell, data)
    chosen = time.monotonic()
    explanation, run = Explanation(masks[1].float(), masks[1], features.names), Judging(fabric_of("cpu"), cell.seed)
    others, target = Others(train, lambda: (masks[0].float(), masks[0])), from_labels(data.test.y)
    estimate, verdict = judge(Evaluation(explanation, features, test, target, run, evaluators, others).encoding)
    return {
        "encoding": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "p": verdict.p_value,
        "verdict": verdict.word,
        "kept": float(masks[1].double().sum(1).mean()),
        "test_seconds": time.monotonic() - chosen,
        "seconds": time.monotonic() - began,
    }


def _planted(cell: Cell, data: Dataset) -> tuple[Tensor, Tensor]:
    parts = (data.train, data.test)
    x, y, truth = (torch.cat([torch.as_tensor(getattr(part, name)) for part in parts]) for name in ("x", "y", "truth"))
    select = {**ENCODERS, **HONEST}[cell.label]
    masks = select(x, y, truth, generator=torch.Generator().manual_seed(cell.seed))
    return masks[: len(data.train)], masks[len(data.train) :]


def _learned(cell: Cell, features: Columns, outputs: Classes, data: Dataset) -> tuple[Tensor, Tensor]:
    # Where rows can be drawn, those it learns from are others: on its own a selector knows the labels, and readers would trust it too much.
    own = data.train if cell.data == "digits" else load_data(cell.data, seed=cell.seed + OTHER, rows=cell.training["rows"]).train
    settings = Settings(seed=cell.seed, **{name: cell.training[name] for name in TRAINING[cell.label]})
    with seeded(cell.seed):
        method = METHODS[cell.method](features, outputs, **cell.options)
        fit(method, method.phases(), *first_tenth(trial_of(features, own)), settings)
    method.eval()
    train, test = (method.explain(features.encode(part.x).x)[1] for part in (data.train, data.test))
    return train, test


def reproduce(run: Run) -> Path:
    """Compute the draws and write how often each kind was flagged."""
    made = cells(quick=run.quick, seeds=run.seeds)
    frame = run.cells(made, compute)
    places = {kind: place for place, kind in enumerate((*PLANTED, *SAFE))}
    frame = frame.sort_values("label", key=lambda column: column.map(places), kind="stable")
    kinds = [(kind, frame[frame["label"] == kind]) for kind in places]
    every = [*kinds, ("all honest selectors", frame[frame["label"].isin(SAFE)])]
    by_set = [
        (f"{kind}, {data}", part) for kind in ("omission", "oracle", REALX) for data, part in frame[frame["label"] == kind].groupby("data")
    ]
    return write_result(
        run,
        title="The encoding test: power and false alarms",
        notes=NOTES,
        frame=frame,
        asked=made,
        sections=[("Verdicts", _shares(every)), ("By data set", _shares(by_set))],
        figures={"estimates": lambda: _figure(frame)},
    )


def _figure(frame: pd.DataFrame) -> Axes:
    from ..report import strip

    drawn = frame.rename(columns={"encoding": "encoding, nats", "label": "kind"})
    return strip(drawn, value="encoding, nats", by="kind", colour="verdict", line=MARGIN, title="What does the choice of the mask tell?")


def _shares(kinds: list[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """One row a kind of selector: how often each verdict fell, with the interval of that share, and what was estimated."""
    lines = []
    for kind, part in kinds:
        if len(part):
            words = {word: _share(int((part["verdict"] == word).sum()), len(part)) for word in ("encodes", "honest", "cannot tell")}
            spread = f" ({part['encoding'].std():.4f})" if len(part) > 1 else ""
            lines.append(
                {"selector": kind + mark_of(part), "draws": len(part), **words, "mean encoding": f"{part['encoding'].mean():.4f}{spread}"}
            )
    return pd.DataFrame(lines).rename(columns={"encodes": "flagged %", "honest": "honest %", "cannot tell": "cannot tell %"})


def _share(count: int, draws: int) -> str:
    """Percent of draws, with the exact interval of 95 % (Clopper and Pearson, 1934)."""
    interval = binomtest(count, draws).proportion_ci(0.95)
    return f"{100 * count / draws:.0f} [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


NOTES = (
    f"Each draw has {ROWS:,} rows to learn from and {ROWS:,} to judge (digits: 898 and 899), of S1, S2 and S3 in turn. The margin is "
    f"{MARGIN:g} nats, and each side of the test errs at 5 %. Selectors that encode: *position* shows the feature that has the label's "
    "number; *size* shows a random subset, larger for class 1; *omission* shows the true features but x11, which decides which they are; "
    "L2X shows one pixel. Honest ones: random subsets, the true features (oracle), one set for all rows, and REAL-X with the published "
    "lambda, fitted briefly to other rows. In brackets: exact 95 % intervals of shares; the spread of estimates over draws. The exact "
    "encoding of omission is 0.065 nats on S1, 0.068 on S2 and 0.104 on S3; that of every honest selector is 0, but REAL-X's is unknown."
)
