"""The encoding test on selectors whose honesty is known: its power and its false alarms."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.stats import binomtest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Generator, Tensor

from ..auditing import MARGIN, decide_verdict
from ..core import Dataset, DataSplit, Explanation, seeded
from ..core.splits import first_tenth
from ..data import load_data
from ..evaluation import Evaluators, Others
from ..experiments.cell import Cell
from ..experiments.scenario import Scenario
from ..methods import METHODS
from ..training import Settings, fit
from .page import mark_of
from .table import Drawn, Page, Results, Table, in_order

Selector = Callable[..., Tensor]  # rows (n, d), labels (n,) and ground truth (n, d) → masks (n, d)
MIN_KEPT = 3  # features that `size` keeps in rows of the first class


# ---- selectors that encode the label in the choice of features, and some that cannot ----
# Training and test rows are passed together, so that random numbers that are sampled once hold for both.


def position(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001  a selector's signature
    """Encode the label in the position: keep only the feature with the label's number.

    Reference: Jethani et al., Have We Learned to Explain?, 2021, section 3.
    """
    return torch.arange(x.shape[1]) == y[:, None] % x.shape[1]


def size(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Encode the label in the size: keep a random subset, with one more feature per class."""
    return torch.rand(x.shape, generator=generator).argsort(1).argsort(1) < MIN_KEPT + y[:, None]


def omission(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Keep the true features except those of all rows: the control-flow feature, which the choice of the others then reveals.

    Reference: Jethani et al., 2021, section 3 (a control-flow feature that decides which features are kept, and is not kept itself).
    """
    return truth & ~truth.all(0)


def random_subset(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Keep a random subset that does not depend on the row; all sizes are equally likely."""
    return torch.rand(x.shape, generator=generator) < torch.rand(len(x), 1, generator=generator)


def oracle(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Keep the true features, including the control-flow feature."""
    return truth.clone()


def global_set(x: Tensor, y: Tensor, truth: Tensor, *, generator: Generator) -> Tensor:  # noqa: ARG001
    """Keep the same features in all rows: a random subset, neither empty nor complete."""
    order = torch.rand(x.shape[1], generator=generator).argsort().argsort()
    count = torch.randint(1, x.shape[1], (), generator=generator)
    return (order < count).expand(x.shape).clone()


ENCODERS: dict[str, Selector] = {"position": position, "size": size, "omission": omission}
HONEST: dict[str, Selector] = {"random subsets": random_subset, "oracle": oracle, "global set": global_set}


# ---- the table ----

SETS = ("s1", "s2", "s3")
ROWS = 3000  # training rows, and the same number of test rows
EVALUATOR_STEPS = 1000
OTHER = 1_000_000  # added to the seed of rows that a method is trained on
L2X, REALX = "L2X, k = 1, digits", "REAL-X"
# Kinds that encode have one draw per seed, honest ones half as many each.
PLANTED = (*ENCODERS, L2X)
SAFE = (*HONEST, REALX)
SIZES: dict[str, dict[str, Any]] = {"s1": {"penalty": 0.05}, "s2": {"penalty": 0.05}, "s3": {"penalty": 0.1}, "digits": {"keep": 1}}
TRAINING: dict[str, dict[str, Any]] = {
    REALX: {"epochs": 200, "batch_size": 250, "learning_rate": 1e-3},
    L2X: {"epochs": 60, "batch_size": 100, "learning_rate": 1e-3},
}


def cells(quick: bool, seeds: int) -> list[Cell]:
    """All draws. The data sets alternate, and draws with the same evaluators follow each other."""
    size: dict[str, Any] = {"rows": 600, "judge_steps": 200} if quick else {"rows": ROWS, "judge_steps": EVALUATOR_STEPS}
    made = []
    for seed in range(seeds):
        kinds = [*PLANTED, *(SAFE if seed < (seeds + 1) // 2 else ())]
        for kind in kinds:
            data, method = ("digits", "l2x") if kind == L2X else (SETS[seed % len(SETS)], "realx" if kind == REALX else "planted")
            learned = {**TRAINING[kind], **({"epochs": 5} if quick else {})} if kind in TRAINING else {}
            made.append(Cell(data, kind, method, seed, SIZES[data] if learned else {}, {**size, **learned}))
    return made


@lru_cache(maxsize=4)
def _draw(name: str, rows: int, steps: int, seed: int) -> tuple[Scenario, Evaluators]:
    """Rows of one draw and their evaluators, which do not depend on the selector."""
    scene = Scenario(name, _digits(seed) if name == "digits" else load_data(name, seed=seed, rows=rows), seed)
    evaluators = replace(scene.evaluators(), seed=seed, split=first_tenth, steps=steps)
    evaluators.of()  # train them here, so that the times of tests do not include it
    return scene, evaluators


def _digits(seed: int) -> Dataset:
    """Scikit-learn's 1,797 digits of 8 x 8 pixels: half for training, half for tests."""
    x, y = load_digits(return_X_y=True)
    parts = train_test_split(x.astype(np.float32), y.astype(np.int64), test_size=0.5, stratify=y, random_state=seed)
    train, test = DataSplit(parts[0], parts[2]), DataSplit(parts[1], parts[3])
    return Dataset("digits", "8 x 8 pixels", train, test, test, tuple(f"pixel {j}" for j in range(x.shape[1])))


def compute(cell: Cell, _folder: Path) -> dict[str, Any]:
    """Test the masks that one selector chooses for the rows of one draw."""
    began = time.monotonic()
    scene, evaluators = _draw(cell.data, cell.training["rows"], cell.training["judge_steps"], cell.seed)
    train, test = _learned(cell, scene) if cell.label in TRAINING else _planted(cell, scene.data)
    chosen = time.monotonic()
    others = Others(scene.batch(scene.data.train), lambda: (train.float(), train))
    explanation = Explanation(test.float(), test, scene.features.names)
    estimate, verdict = decide_verdict(scene.evaluation(explanation, evaluators, others).encoding)
    return {
        "encoding": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "p": verdict.p_value,
        "verdict": verdict.word,
        "kept": float(test.double().sum(1).mean()),
        "test_seconds": time.monotonic() - chosen,
        "seconds": time.monotonic() - began,
    }


def _planted(cell: Cell, data: Dataset) -> tuple[Tensor, Tensor]:
    parts = (data.train, data.test)
    x, y, truth = (torch.cat([torch.as_tensor(getattr(part, name)) for part in parts]) for name in ("x", "y", "truth"))
    select = {**ENCODERS, **HONEST}[cell.label]
    masks = select(x, y, truth, generator=torch.Generator().manual_seed(cell.seed))
    return masks[: len(data.train)], masks[len(data.train) :]


def _learned(cell: Cell, scene: Scenario) -> tuple[Tensor, Tensor]:
    # If possible, on other rows than the mask readers: in its own training rows, a selector encodes more, because it has seen their labels.
    data, features = scene.data, scene.features
    own = data.train if cell.data == "digits" else load_data(cell.data, seed=cell.seed + OTHER, rows=cell.training["rows"]).train
    settings = Settings(seed=cell.seed, **{name: cell.training[name] for name in TRAINING[cell.label]})
    with seeded(cell.seed):
        method = METHODS[cell.method](features, scene.outputs, **cell.options)
        fit(method, method.phases(), *first_tenth(scene.batch(own)), settings)
    method.eval()
    train, test = (method.explain(features.encode(part.x).x)[1] for part in (data.train, data.test))
    return train, test


def page(results: Results) -> Page:
    """The share of each verdict per kind of selector."""
    kinds_in_order = (*PLANTED, *SAFE)
    frame = in_order(results.frame(), ["label"], kinds_in_order)
    kinds = [(kind, frame[frame["label"] == kind]) for kind in kinds_in_order]
    all_kinds = [*kinds, ("all honest selectors", frame[frame["label"].isin(SAFE)])]
    by_set = [
        (f"{kind}, {data}", part) for kind in ("omission", "oracle", REALX) for data, part in frame[frame["label"] == kind].groupby("data")
    ]
    return Page(frame, [("Verdicts", _shares(all_kinds)), ("By data set", _shares(by_set))], {"estimates": lambda: _figure(frame)})


def _figure(frame: pd.DataFrame) -> Drawn:
    from ..report import strip

    drawn = frame.rename(columns={"encoding": "encoding, nats", "label": "kind"})
    return strip(drawn, value="encoding, nats", by="kind", colour="verdict", line=MARGIN, title="Encoding per kind of selector")


def _shares(kinds: list[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """One row per kind of selector: the share of each verdict, with its interval, and the mean estimate."""
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
    """A share of draws in percent, with its exact 95 % interval (Clopper and Pearson, 1934)."""
    interval = binomtest(count, draws).proportion_ci(0.95)
    return f"{100 * count / draws:.0f} [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


TABLE = Table(
    "audit-power",
    "the encoding test: how often it flags selectors that encode the label in the mask, and honest ones",
    "The encoding test: power and false alarms",
    f"Each draw has {ROWS:,} training and {ROWS:,} test rows (digits: 898 and 899), of S1, S2 and S3 in turn. The margin is "
    f"{MARGIN:g} nats, and each side of the test has an error rate of 5 %. Selectors that encode: *position* keeps the feature with the "
    "label's number; *size* keeps a random subset, larger for class 1; *omission* keeps the true features except x11, which decides "
    "which they are; L2X keeps one pixel. Honest selectors: random subsets, the true features (oracle), one set for all rows, and REAL-X "
    "with the published lambda, trained briefly on other rows. In brackets: exact 95 % intervals of shares, and standard deviations of "
    "estimates over draws. The exact encoding of omission is 0.065 nats on S1, 0.068 on S2 and 0.104 on S3. That of honest selectors is "
    "0, except for REAL-X, where it is unknown.",
    cells,
    compute,
    page,
)
