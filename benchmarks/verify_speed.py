"""Speed of verified explanations: 10,000 rows of the adult table, next to KernelSHAP.

    python benchmarks/verify_speed.py [--quick]

The limits: 90 seconds with the model, and 50 times the speed of KernelSHAP per row. One thread is used, and CPU seconds are compared:
wall seconds contain waiting for a core that other processes use.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from measure import Sheet
from rich.console import Console
from threadpoolctl import threadpool_limits

import lexplain as lx
from lexplain import check
from lexplain.baselines import TreeSHAP
from lexplain.reproduce.real_tables import model_of

ROWS, QUICK_ROWS = 10_000, 200
PEER_ROWS, QUICK_PEER_ROWS = 20, 2
PEER_BACKGROUND = 100
SECONDS, TIMES = 90.0, 50.0  # limits: at most, at least


@dataclass(frozen=True)
class Seconds:
    """Seconds of one call."""

    wall: float
    cpu: float  # of all threads of this process: without waiting for a core that other processes use


def timed(call: Callable[[], Any]) -> tuple[Any, Seconds]:
    """The result of a call, and its seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return result, Seconds(wall, cpu)


def run(*, quick: bool = False) -> list[Sheet]:
    """Time the default's verified explanation and `verify` along TreeSHAP, then KernelSHAP on a few rows."""
    shap = check.require("shap", extra="peers")
    data = lx.load_data("adult", seed=0)
    model = model_of(data, 0)
    X, codes = data.train.x, model.codes(data.train.x[:PEER_BACKGROUND])
    rows = data.test.x[: QUICK_ROWS if quick else ROWS]
    explainer = lx.Explainer(epochs=1 if quick else None).fit(X, model=model)
    trees = TreeSHAP().fit(codes, model=model.pipeline[-1])
    calls = {
        "`explain(verify=True)`": lambda: explainer.explain(rows, verify=True),
        "TreeSHAP and `verify`": lambda: lx.verify(
            model.as_columns(trees.explain(model.codes(rows)).scores, rows), rows, model=model, background=X
        ),
    }
    few = model.codes(rows[: QUICK_PEER_ROWS if quick else PEER_ROWS])
    with threadpool_limits(1):
        peer, lines = shap.KernelExplainer(model.pipeline[-1].predict_proba, codes), []
        _, slow = timed(lambda: peer.shap_values(few, silent=True))
        for name, call in calls.items():
            model.seconds = 0.0
            explanation, took = timed(call)
            faster = (slow.cpu / len(few)) / (took.cpu / len(rows))
            reached = took.cpu <= SECONDS and faster >= TIMES
            lines.append(
                [
                    name,
                    f"{len(rows):,}",
                    *(f"{value:.1f}" for value in (took.wall, model.seconds, took.cpu)),
                    f"{float(explanation.model_rows.double().mean()):.0f}",
                    f"{float(explanation.mask.double().sum(1).mean()):.2f}",
                    f"{faster:.0f}",
                    "-" if quick else "yes" if reached else "NO",
                ]
            )
    notes = [
        "The adult table as a DataFrame with categories. The model is HistGradientBoosting behind an OrdinalEncoder. One thread.",
        f"KernelSHAP: shap's own, on the codes, with {PEER_BACKGROUND} background rows. It takes {1000 * slow.cpu / len(few):.0f} ms of "
        f"CPU time per row, measured on {len(few)} rows.",
        f"Limits: {SECONDS:.0f} CPU seconds for {ROWS:,} rows, and {TIMES:.0f} times faster per row than KernelSHAP.",
    ]
    columns = ["what", "rows", "seconds", "model seconds", "CPU seconds", "model rows per row", "kept", "times faster", "within"]
    return [Sheet("verify next to KernelSHAP", columns, lines, notes)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows and epochs, to see that it runs")
    torch.manual_seed(0)
    for sheet in run(quick=parser.parse_args().quick):
        sheet.show(Console(width=200))
