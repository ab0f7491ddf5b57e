"""Real tables and a gradient-boosting model: the number of columns under which its answers hold, along the scores of several tools."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from ..auditing.verify import make_verifier, verify
from ..baselines import LIME, KernelSHAP, TreeSHAP
from ..baselines.baseline import Baseline
from ..core import Dataset, Explanation
from ..data import load_data
from ..experiments.cell import FEW_ROWS, Cell
from ..explainers import Explainer
from ..imputers import MAX_BACKGROUND
from ..models import QueriedModel
from .page import mark_of, mean_and_spread
from .table import Page, Results, Table, in_order

LIMITED = ("breast_cancer", "german", "adult", "bank", "credit_default")
REAL_VALUED = ("california_housing", "wine")
SETS = (*LIMITED, *REAL_VALUED, "heart")
TREES, SIGNED_TREES, SLOW = "TreeSHAP, absolute", "TreeSHAP, signed", "KernelSHAP"
LINES = ("default", "contributions", TREES, SIGNED_TREES, "LIME", SLOW)
OURS = ("default", "contributions")  # methods of the library
QUERIES = 2_000_000  # of the model, that contributions are learned from
ROWS = 2000  # test rows that the library's methods explain
BACKGROUND = 100  # background rows of KernelSHAP
MISSED = "*"
# What a verified explanation must reach. Columns kept: at most 15 % more than were measured along absolute TreeSHAP before.
KEPT = {"breast_cancer": 2.3, "german": 5.98, "adult": 3.335, "bank": 2.415, "credit_default": 2.185}
HOLDS = {**dict.fromkeys(LIMITED, 0.95), "german": 0.90}
CLASS_HOLDS = {**dict.fromkeys(LIMITED, 0.92), "german": 0.88}
MODEL_ROWS = {**dict.fromkeys(LIMITED, 450.0), "german": 900.0}


@dataclass
class TimedModel:
    """The outputs of a fitted pipeline, and the seconds they took."""

    pipeline: Pipeline
    seconds: float = 0.0

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        """Class probabilities (n, c), or values (n,)."""
        began = time.perf_counter()
        outputs = self.pipeline.predict_proba(rows) if hasattr(self.pipeline, "predict_proba") else self.pipeline.predict(rows)
        self.seconds += time.perf_counter() - began
        return np.asarray(outputs)

    def codes(self, rows: pd.DataFrame) -> np.ndarray:
        """The rows as the trees get them: categories as codes, before the other columns."""
        return np.asarray(self.pipeline[0].transform(rows), dtype=np.float64)

    def as_columns(self, scores: torch.Tensor, rows: pd.DataFrame) -> torch.Tensor:
        """Scores (n, d) of codes, in the order of the columns."""
        names = self.pipeline[0].get_feature_names_out().tolist()
        return scores[:, [names.index(name) for name in rows.columns]]


@dataclass(frozen=True)
class Sets:
    """The rows of a cell."""

    test: pd.DataFrame  # explained rows
    own: pd.DataFrame  # that explainers are fitted to, and that `verify` takes hidden values from
    others: pd.DataFrame  # that hidden values are taken from to measure what was verified

    @classmethod
    def of(cls, data: Dataset, rows: int, seed: int) -> Sets:
        """The first test rows, and two parts of the other rows. The second has at most half of them and at most `MAX_BACKGROUND`."""
        both: pd.DataFrame = pd.concat([data.train.x, data.validation.x])
        places = np.random.default_rng(seed).permutation(len(both))
        count = min(MAX_BACKGROUND, len(both) // 2)
        own, others = both.iloc[np.sort(places[count:])], both.iloc[np.sort(places[:count])]
        unknown = np.zeros(len(others), dtype=bool)  # rows with a category that no explainer would know
        for name in others.select_dtypes("category").columns:
            unknown |= ~others[name].isin(own[name].unique()).to_numpy()
        return cls(data.test.x.iloc[:rows], pd.concat([own, others[unknown]]), others[~unknown])


def cells(quick: bool, seeds: int) -> list[Cell]:
    """All data sets with all lines. KernelSHAP comes last, because it is slow. Real values have no predicted class to sign scores for."""
    less = {"epochs": 5, "rows": 30, "model_rows": 20_000} if quick else {}
    return [
        Cell(data, line, line, seed, {}, less)
        for slow in (False, True)
        for seed in range(seeds)
        for data in (SETS[:2] if quick else SETS)
        for line in LINES
        if (line == SLOW) == slow and not (line == SIGNED_TREES and data in REAL_VALUED)
    ]


def model_of(data: Dataset, seed: int) -> TimedModel:
    """Boosted trees fitted to the training rows; categories become ordinal codes."""
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    encoder = make_column_transformer(
        (ordinal, make_column_selector(dtype_include="category")), remainder="passthrough", verbose_feature_names_out=False
    )
    kind = HistGradientBoostingRegressor if data.name in REAL_VALUED else HistGradientBoostingClassifier
    return TimedModel(make_pipeline(encoder, kind(random_state=seed)).fit(data.train.x, data.train.y))


def compute(cell: Cell, _folder: Path) -> dict[str, float]:
    """Explain and verify test rows, then measure the kept columns with other rows and new draws."""
    data = load_data(cell.data, seed=cell.seed)
    model = model_of(data, cell.seed)
    rows = cell.training.get("rows") or (ROWS if cell.method in OURS else FEW_ROWS)
    sets = Sets.of(data, rows, cell.seed)
    explain = _own if cell.method in OURS else _other_tool
    explanation, numbers = explain(cell, model, sets)
    assert explanation.features is not None  # set by `verify`
    verifier = make_verifier(
        QueriedModel(model),
        explanation.features,
        sets.others,
        real=data.name in REAL_VALUED,
        holds=0.95,
        random_state=cell.seed + 1000,
    )
    measured = verifier(sets.test, explanation.scores, explanation.mask).holds.double()
    return {
        "rows": len(sets.test),
        "kept": float(explanation.mask.double().sum(1).mean()),
        "own holds": _mean(explanation.holds),
        "verified": _mean(explanation.verified),
        "model rows": _mean(explanation.model_rows),
        **_measured(measured, explanation.target),
        **numbers,
    }


def _own(cell: Cell, model: TimedModel, sets: Sets) -> tuple[Explanation, dict[str, float]]:
    """The explanation of `Explainer`, with its one pass."""
    options = {"model_rows": cell.training.get("model_rows", QUERIES)} if cell.method == "contributions" else None
    explainer = Explainer(cell.method, epochs=cell.training.get("epochs"), options=options, random_state=cell.seed)
    explainer.fit(sets.own, model=model)
    began = time.perf_counter()
    kept = float(explainer.explain(sets.test).mask.double().sum(1).mean())
    one_pass = time.perf_counter() - began
    explanation, numbers = _timed(model, len(sets.test), one_pass, lambda: explainer.explain(sets.test, verify=True))
    return explanation, {**numbers, "one-pass kept": kept, "fit_seconds": explainer.fit_seconds_ or 0.0}


def _other_tool(cell: Cell, model: TimedModel, sets: Sets) -> tuple[Explanation, dict[str, float]]:
    """The explanation along the scores of another tool, which are about the predicted class."""
    tool: Baseline
    rows: pd.DataFrame | np.ndarray = sets.test
    if cell.method == "LIME":  # of the rows of its fit, it uses quartiles and rates of categories only
        tool = LIME(random_state=cell.seed).fit(sets.own, model=model)
    else:
        tool = KernelSHAP(background=BACKGROUND, random_state=cell.seed) if cell.method == SLOW else TreeSHAP()
        tool.fit(model.codes(sets.own.sample(BACKGROUND, random_state=cell.seed)), model=model.pipeline[-1])
        rows = model.codes(sets.test)
    began = time.perf_counter()
    scores = tool.explain(rows).scores
    seconds = time.perf_counter() - began
    if cell.method != "LIME":
        scores = model.as_columns(scores, sets.test)
    order = "absolute" if cell.method == TREES else None
    return _timed(
        model,
        len(sets.test),
        seconds,
        lambda: verify(scores, sets.test, model=model, background=sets.own, order=order, random_state=cell.seed),
    )


def _timed(model: TimedModel, rows: int, explain: float, verified: Callable[[], Explanation]) -> tuple[Explanation, dict[str, float]]:
    """A verified explanation, and milliseconds per row of the explanation, of `verify` and of the model in it."""
    model.seconds, began = 0.0, time.perf_counter()
    explanation = verified()
    seconds = time.perf_counter() - began
    milliseconds = {"explain ms": explain, "verify ms": seconds, "model ms": model.seconds}
    return explanation, {name: 1000 * value / rows for name, value in milliseconds.items()}


def _mean(values: torch.Tensor | None) -> float:
    assert values is not None  # set by `verify`
    return float(values.double().nanmean())


def _measured(holds: torch.Tensor, predicted: torch.Tensor) -> dict[str, float]:
    """The mean share in which answers hold, of all rows and of the predicted class where it is least, with standard errors over rows."""
    parts = [holds[predicted == index] for index in set(predicted.tolist())]  # one for real values
    least = min(parts, key=lambda part: float(part.mean()))
    return {
        "holds": float(holds.mean()),
        "holds se": _error(holds),
        "least class": float(least.mean()),
        "least class se": _error(least),
        "least class rows": len(least),
    }


def _error(values: torch.Tensor) -> float:
    return float(values.std() / len(values) ** 0.5) if len(values) > 1 else 0.0


def page(results: Results) -> Page:
    """Columns kept and their limits, how far answers hold, and the costs."""
    frame = in_order(results.frame(), ["data", "label"], [*SETS, *LINES])
    frame["one-pass kept"] = frame.get("one-pass kept", np.nan)
    costs = ["verified", "own holds", "explain ms", "verify ms", "model ms"]
    return Page(
        frame,
        [
            ("Columns kept per row", _by_line(frame, "kept", 2, KEPT, lines=[TREES], extra="one-pass kept")),
            ("Share of draws in which the answer holds", _by_line(frame, "holds", 3, HOLDS, least=True)),
            ("The same for the predicted class where it holds least", _by_line(frame, "least class", 3, CLASS_HOLDS, least=True)),
            ("Model rows per row", _by_line(frame, "model rows", 0, MODEL_ROWS)),
            ("Time, and what `verify` reports", mean_and_spread(frame, ["data", "label"], costs)),
        ],
    )


def _by_line(
    frame: pd.DataFrame,
    name: str,
    digits: int,
    limits: Mapping[str, float],
    *,
    least: bool = False,
    lines: list[str] | None = None,
    extra: str | None = None,
) -> pd.DataFrame:
    """The means of one number, with one row per data set and one column per line; a star where a limit is missed.

    Args:
        frame: One row per finished cell.
        name: The number.
        digits: Decimals.
        limits: Limit of each data set that has one.
        least: Whether the limit is a minimum.
        lines: Lines that the limit is for. None: all.
        extra: Another number of the default, shown in a column of its own.
    """
    table: dict[str, dict[str, str]] = {}
    for (data, line), part in frame.groupby(["data", "label"], sort=False):
        value, limit = part[name].mean(), limits.get(str(data))
        missed = limit is not None and line in (lines or LINES) and (value < limit if least else value > limit)
        row = table.setdefault(str(data), {})
        if extra is not None and line == LINES[0]:
            row[f"{line}, one pass"] = f"{part[extra].mean():.{digits}f}"
        row[str(line)] = f"{value:.{digits}f}" + (MISSED if missed else "") + mark_of(part)
    columns = [name for name in (f"{LINES[0]}, one pass", *LINES) if any(name in row for row in table.values())]
    rows = [
        {"data": data, **{name: row.get(name, "") for name in columns}, "limit": f"{limits[data]:.{digits}f}" if data in limits else ""}
        for data, row in table.items()
    ]
    return pd.DataFrame(rows)


TABLE = Table(
    "real-tables",
    "columns that a gradient-boosting model's answers need, verified on eight real tables along the scores of several tools",
    "Real tables, a gradient-boosting model: the columns that its answers need",
    "The model is scikit-learn's HistGradientBoosting, fitted to the training rows, with categories as ordinal codes. `default` is "
    f"`lx.Explainer().fit(X, model=model).explain(X, verify=True)` on at most {ROWS:,} test rows. `contributions` is the same with "
    f'`lx.Explainer("contributions")`, learned from {QUERIES:,} queries of the model. The other lines are `lx.verify` along '
    f"the scores of shap and lime on {FEW_ROWS} test rows. Their order is signed for the predicted class, and absolute for real values "
    f"(california_housing, wine), unless the name says otherwise. KernelSHAP has {BACKGROUND} background rows. One pass: columns that the "
    "default keeps without `verify`. Holds: share of 96 new draws of the hidden columns in which the answer stays the same. These draws "
    "use rows that neither the explainer nor `verify` has used: at most half of the rows that are not test rows, and at most "
    f"{MAX_BACKGROUND:,}. Model rows: queries of the model by `verify`. Verified, own holds: what `verify` itself reports. Milliseconds "
    "are per row: of the scores alone, of `verify` with the model, and of the model in it. A star marks a missed limit. A class may "
    "have few rows: results.csv has their number and the standard error. The limit of columns kept is for absolute TreeSHAP only: 15 % "
    "more than an earlier measurement.",
    cells,
    compute,
    page,
    revision=3,
)
