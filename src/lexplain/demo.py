"""The main job on embedded data: a black box explained, honest and dishonest explainers side by side, one page."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import GradientBoostingClassifier

from . import __version__
from .auditing import decide_verdict
from .core import Dataset, Explanation
from .core.contracts import Model
from .core.files import write_bytes
from .core.splits import first_tenth
from .data import load_data
from .evaluation import Evaluators, Others
from .experiments.scenario import Scenario
from .explainers import Explainer, FitWarning
from .measures import MEASURES, Estimate, estimates, means
from .report import Section, cost, honesty, page, row_bars, selection_map, truth_tradeoff

LEGEND = "kept: features kept; gap: encoding gap, ACC - eACC; ms: per explanation; ACC, eACC, gap, TPR, FDR, CFSR in percent"
COLUMNS = ("data", "method", "kept", "ACC", "eACC", "eAUROC", "gap", "TPR", "FDR", "CFSR", "ms", "verdict")


@dataclass(frozen=True)
class Job:
    """One explainer to show on one data set."""

    method: str
    options: dict[str, Any]
    epochs: int


S3_JOBS = (Job("realx", {"keep": 5}, 75), Job("l2x", {"keep": 5}, 75))
CANCER_JOBS = (Job("realx", {"keep": 5}, 40), Job("l2x", {"keep": 5}, 40))
EVALUATOR_STEPS = 1500  # fewer than the evaluator's default: the demo is to end soon


@dataclass(frozen=True)
class Scored:
    """An explanation and what its judges say."""

    explanation: Explanation
    acc: Estimate
    eacc: Estimate
    row: dict[str, Any]


def run(out: Path, *, seed: int = 0, quick: bool = False) -> Path:
    """Fit, explain, judge, print one table and write one page."""
    console = Console()
    began = time.monotonic()
    console.print("1. A gradient-boosting black box on breast cancer (569 rows, 30 columns), explained with five features a row")
    cancer = load_data("breast_cancer", seed=seed)
    box = GradientBoostingClassifier(random_state=seed).fit(cancer.frame(cancer.train), cancer.train.y)
    cancer_scored = _scored(cancer, CANCER_JOBS, box, seed, quick)
    console.print("2. S3, where the truth is known: x11 decides which other features matter")
    synthetic = load_data("s3", rows=1000 if quick else 4000, seed=seed)
    s3_scored = _scored(synthetic, S3_JOBS, None, seed, quick)
    scored = [*cancer_scored, *s3_scored]
    console.print(_table([one.row for one in scored]))
    console.print(LEGEND, style="dim")
    html = _page(cancer_scored, s3_scored, synthetic, time.monotonic() - began)
    written = write_bytes(out, html.encode())
    then = "Next, your own table: lexplain fit your.csv --label COLUMN --out model.lex"
    console.print(f"The report is {written.resolve()}; open it in a browser. {then}", soft_wrap=True)
    return written


def _scored(data: Dataset, jobs: Sequence[Job], model: Model, seed: int, quick: bool) -> list[Scored]:
    """Fit each explainer, and judge them all by one evaluator that has seen the training rows alone."""
    train, test = (replace(part, x=data.frame(part)) for part in (data.train, data.test))
    scene = Scenario(data.name, replace(data, train=train, test=test), seed, model)
    evaluators = replace(scene.evaluators(), seed=seed, split=partial(first_tenth, least=10), steps=EVALUATOR_STEPS)
    found = []
    for job in jobs:
        explainer = Explainer(job.method, epochs=2 if quick else job.epochs, random_state=seed, **job.options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # a short fit; what it finds stands below, without a source line
            explainer.fit(train.x, train.y if model is None else None, model=model)
        for finding in explainer.findings_:
            Console().print(f"   {job.method}: {finding}", style="dim")
        found.append(_judged(explainer, scene, evaluators))
    return found


def _judged(explainer: Explainer, scene: Scenario, evaluators: Evaluators) -> Scored:
    data = scene.data
    explainer.explain(data.test.x)  # what is done once is no row's time
    began = time.monotonic()
    explanation = explainer.explain(data.test.x)
    milliseconds = 1000 * (time.monotonic() - began) / len(data.test)
    theirs = explainer.explain(data.train.x)
    evaluation = scene.evaluation(explanation, evaluators, Others(scene.batch(data.train), lambda: (theirs.scores, theirs.mask)))
    acc, eacc = estimates(evaluation, [MEASURES["acc"], MEASURES["eacc"]]).values()
    mean = means(evaluation, ("kept", "eauroc", "tpr", "fdr", "cfsr"))
    told, verdict = decide_verdict(evaluation.encoding)
    row = {
        "data": {"breast_cancer": "cancer"}.get(data.name, data.name),
        "method": explainer.method_.name,
        "kept": mean["kept"],
        "ACC": 100 * acc.mean,
        "eACC": 100 * eacc.mean,
        "eAUROC": mean["eauroc"],
        "gap": 100 * (acc.mean - eacc.mean),
        "ms": milliseconds,
        "verdict": verdict.word,
        "encoding": told.mean,
        **{key.upper(): 100 * mean[key] for key in ("tpr", "fdr", "cfsr") if key in mean},
    }
    return Scored(explanation, acc, eacc, row)


def _cell(name: str, row: dict[str, Any]) -> str:
    value = row.get(name)
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:.4f}" if name == "ms" else f"{value:.3f}" if name == "eAUROC" else f"{value:.1f}"


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in ("data", "method", "verdict") else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(name, row) for name in COLUMNS))
    return table


def _page(cancer: Sequence[Scored], s3: Sequence[Scored], data: Dataset, seconds: float) -> str:
    every = pd.DataFrame([{name: _cell(name, one.row) for name in COLUMNS} for one in [*cancer, *s3]])
    costs = pd.DataFrame({"method": f"{one.row['method']} ({one.row['data']})", "ms": one.row["ms"]} for one in [*cancer, *s3])
    rates = pd.DataFrame({"method": one.row["method"], "tpr": one.row["TPR"] / 100, "fdr": one.row["FDR"] / 100} for one in s3)
    first = cancer[0].explanation
    sections = [
        Section("The idea", IDEA),
        Section("All numbers", NUMBERS, table=every),
        Section(
            "A black box, explained",
            "Gradient boosting on breast cancer. Each row of the map is a patient; dark cells are the features that made the prediction.",
            figures=(selection_map(first), row_bars(first, 0), row_bars(first, 1), row_bars(first, 2)),
        ),
        Section("Who is honest and who encodes", HONESTY, figures=(honesty(_honesty(s3)), truth_tradeoff(rates))),
        *(_map_section(one, data) for one in s3),
        Section("What it costs", COST, figures=(cost(costs),)),
    ]
    lead = f"Two data sets, {len(cancer) + len(s3)} explainers, fitted, explained and judged in {seconds:.0f} seconds."
    return page("lexplain: the demo", lead, sections, version=__version__, date=date.today().isoformat())


def _map_section(one: Scored, data: Dataset) -> Section:
    title = f"What {one.row['method']} shows on S3"
    shown = f"{one.row['method']} keeps it in {one.row['CFSR']:.0f} % of rows."
    text = f"Outlined cells are the true features. x11 decides which others matter; {shown}"
    return Section(title, text, figures=(selection_map(one.explanation, truth=torch.as_tensor(data.test.truth)),))


def _honesty(scored: Sequence[Scored]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "method": one.row["method"],
            "acc": one.acc.mean,
            "acc_low": one.acc.low,
            "acc_high": one.acc.high,
            "eacc": one.eacc.mean,
            "eacc_low": one.eacc.low,
            "eacc_high": one.eacc.high,
            "verdict": one.row["verdict"],
        }
        for one in scored
    )


IDEA = (
    "A selector network reads a row once and says which features to show; an explanation is honest if a judge who knows only the values "
    "shown, and not why they were chosen, predicts as well as the explainer claims."
)
NUMBERS = (
    "ACC is the explainer's own accuracy from the features it keeps, eACC and eAUROC are those of EVAL-X, a network that has only ever "
    "seen random subsets. The gap between ACC and eACC is accuracy that the choice of features smuggles in. TPR, FDR and CFSR compare "
    "with the true features where they are known. The verdict comes from the encoding test."
)
HONESTY = (
    "A joint method trains its predictor on its own selections, so the selection itself can carry the answer: it may leave out x11, which "
    "decides what matters, because which features it shows already tells the sign of x11. REAL-X trains its predictor on random subsets, "
    "and has to show x11."
)
COST = "Milliseconds to explain one row, in a batch of all test rows: checks and one forward pass, whatever the black box costs."
