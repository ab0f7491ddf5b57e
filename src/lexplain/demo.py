"""A demonstration on embedded data: a model explained, and an honest explainer next to one that encodes, on one page."""

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

LEGEND = (
    "kept: features kept per row; gap: ACC - eACC before rounding; ms: milliseconds per row; ACC, eACC, gap, TPR, FDR and CFSR in percent"
)
COLUMNS = ("data", "method", "kept", "ACC", "eACC", "eAUROC", "gap", "TPR", "FDR", "CFSR", "ms", "verdict")


@dataclass(frozen=True)
class Job:
    """Settings of one explainer on one data set."""

    method: str
    options: dict[str, Any]
    epochs: int


S3_JOBS = (Job("realx", {"keep": 5}, 75), Job("l2x", {"keep": 5}, 75))
CANCER_JOBS = (Job("realx", {"keep": 5}, 40), Job("l2x", {"keep": 5}, 40))
EVALUATOR_STEPS = 1500  # fewer than the evaluator's default, so that the demo is fast


@dataclass(frozen=True)
class Scored:
    """An explanation and its measures."""

    explanation: Explanation
    acc: Estimate
    eacc: Estimate
    row: dict[str, Any]


def run(out: Path, *, seed: int = 0, quick: bool = False) -> Path:
    """Fit, explain and audit, print one table and write one page."""
    console = Console()
    began = time.monotonic()
    console.print("1. A gradient-boosting model on breast cancer (569 rows, 30 columns), explained with five features per row")
    cancer = load_data("breast_cancer", seed=seed)
    box = GradientBoostingClassifier(random_state=seed).fit(cancer.frame(cancer.train), cancer.train.y)
    cancer_scored = _scored(cancer, CANCER_JOBS, box, seed, quick)
    console.print("2. S3, with known ground truth: x11 decides which other features matter")
    synthetic = load_data("s3", rows=1000 if quick else 4000, seed=seed)
    s3_scored = _scored(synthetic, S3_JOBS, None, seed, quick)
    scored = [*cancer_scored, *s3_scored]
    console.print(_table([one.row for one in scored]))
    console.print(LEGEND, style="dim")
    html = _page(cancer_scored, s3_scored, synthetic, time.monotonic() - began)
    written = write_bytes(out, html.encode())
    then = "Next, try your own table: lexplain fit your.csv --label COLUMN --out model.lex"
    console.print(f"The report is {written.resolve()}. Open it in a browser. {then}", soft_wrap=True)
    return written


def _scored(data: Dataset, jobs: Sequence[Job], model: Model, seed: int, quick: bool) -> list[Scored]:
    """Fit each explainer, and evaluate all of them by one evaluator, which is trained on the training rows only."""
    train, test = (replace(part, x=data.frame(part)) for part in (data.train, data.test))
    scene = Scenario(data.name, replace(data, train=train, test=test), seed, model)
    evaluators = replace(scene.evaluators(), seed=seed, split=partial(first_tenth, least=10), steps=EVALUATOR_STEPS)
    results = []
    for job in jobs:
        explainer = Explainer(job.method, epochs=2 if quick else job.epochs, random_state=seed, **job.options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # the findings are printed below, without a source line
            explainer.fit(train.x, train.y if model is None else None, model=model)
        for finding in explainer.findings_:
            Console().print(f"   {job.method}: {finding}", style="dim")
        results.append(_evaluate(explainer, scene, evaluators))
    return results


def _evaluate(explainer: Explainer, scene: Scenario, evaluators: Evaluators) -> Scored:
    data = scene.data
    explainer.explain(data.test.x)  # the first call does work that is done once only
    began = time.monotonic()
    explanation = explainer.explain(data.test.x)
    milliseconds = 1000 * (time.monotonic() - began) / len(data.test)
    theirs = explainer.explain(data.train.x)
    evaluation = scene.evaluation(explanation, evaluators, Others(scene.batch(data.train), lambda: (theirs.scores, theirs.mask)))
    acc, eacc = estimates(evaluation, [MEASURES["acc"], MEASURES["eacc"]]).values()
    mean = means(evaluation, ("kept", "eauroc", "tpr", "fdr", "cfsr"))
    encoding, verdict = decide_verdict(evaluation.encoding)
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
        "encoding": encoding.mean,
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
    numbers = pd.DataFrame([{name: _cell(name, one.row) for name in COLUMNS} for one in [*cancer, *s3]])
    costs = pd.DataFrame({"method": f"{one.row['method']} ({one.row['data']})", "ms": one.row["ms"]} for one in [*cancer, *s3])
    rates = pd.DataFrame({"method": one.row["method"], "tpr": one.row["TPR"] / 100, "fdr": one.row["FDR"] / 100} for one in s3)
    patients = cancer[0].explanation[:30]
    sections = [
        Section("The idea", IDEA),
        Section("All numbers", NUMBERS, table=numbers),
        Section(
            "A model, explained",
            "A gradient-boosting model predicts whether a tumour is benign (class 1). In the first figure, each row is one of 30 test "
            "patients, and blue cells are the features that realx keeps. The bars show three of these rows. Rows are numbered as in the "
            "data set.",
            figures=(selection_map(patients), *(row_bars(patients, row) for row in range(3))),
        ),
        Section("Which explainer is honest and which encodes", HONESTY, figures=(honesty(_honesty(s3)), truth_tradeoff(rates))),
        *(_map_section(one, data) for one in s3),
        Section("What it costs", COST, figures=(cost(costs),)),
    ]
    lead = f"Two methods on two data sets, fitted and audited in {seconds:.0f} seconds."
    return page("lexplain: the demo", lead, sections, version=__version__, date=date.today().isoformat())


def _map_section(one: Scored, data: Dataset) -> Section:
    title = f"Features that {one.row['method']} keeps on S3"
    rate = f"{one.row['method']} keeps x11 in {one.row['CFSR']:.0f} % of rows."
    text = f"Only the outlined cells, the true features, determine the label. x11 decides which of the others matter; {rate}"
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
    "A selector network reads a row once and selects features. An explanation is honest if the choice of features reveals almost nothing "
    "about the prediction beyond their values. It encodes the prediction if the choice itself reveals it. If the test is not certain, "
    'the verdict is "cannot tell".'
)
NUMBERS = (
    "ACC is the accuracy of the method's own predictor on the explained target, from the kept features. "
    "eACC and eAUROC are accuracy and AUROC of EVAL-X, a network trained on "
    "random subsets of features. A gap above 0 is accuracy that may come from the choice of features. TPR, FDR and CFSR "
    "compare with the true features, which are known for S3: the share of true features that are kept, the share of kept features that "
    "are not true, and the share of rows that keep the feature that decides which others matter. The verdict comes from the encoding "
    "test: it measures how much knowing the choice of features improves the prediction from their values. (" + LEGEND + ".)"
)
HONESTY = (
    "S3 is synthetic: the sign of x11 decides which of the other features determine the label. L2X trains its predictor on its own "
    "selections, so it can drop x11: the choice of the other features reveals the sign of x11. REAL-X trains its predictor on random "
    "subsets, so it has to keep x11."
)
COST = (
    "Time to explain one row, if all test rows are explained in one batch: input checks and one forward pass. The model is not called. "
    "1,000 µs are 1 ms."
)
