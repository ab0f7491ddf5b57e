"""What `explain` costs beside the bare forward of its selector network, for every method with its default networks.

    python benchmarks/explain_speed.py [--seconds 10] [--quick]

The promise: 10,000 rows cost at most 1.3 bare forwards; a single row at most 1 ms and 10 bare forwards.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import black_box
import numpy as np
import torch
from measure import Call, Sheet, Times, interleaved, threads
from rich.console import Console
from torch import Tensor

import lexplain as lx

MANY = 10_000
MANY_RATIO = 1.3
ONE_RATIO, ONE_MS = 10.0, 1.0
REPEATS = {MANY: 100, 1: 2000}  # at most, of so many rows
DIFFERENT = 16  # sets of rows taken in turn where the model is to be asked anew: an explainer remembers its last 8 answers
STAGES = ("encode", "ask the model", "network", "scores and mask", "record")


@dataclass(frozen=True)
class Case:
    """A fitted explainer and how its rows come."""

    label: str
    explainer: lx.Explainer
    anew: bool = False  # other rows each time, so that the model explained is asked again
    judged: bool = True  # whether the promise is for it


@dataclass(frozen=True)
class Measured:
    """The times of a case's calls."""

    case: Case
    rows: int
    threads: int
    times: dict[str, Times]

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The quartiles of explain / bare, each of two calls of the same repeat."""
        low, middle, high = np.quantile(self.times["explain"].wall / self.times["network"].wall, [0.25, 0.5, 0.75])
        return float(low), float(middle), float(high)

    @property
    def cpu_ratio(self) -> float:
        """The same in CPU time."""
        return float(np.median(self.times["explain"].cpu / self.times["network"].cpu))

    @property
    def holds(self) -> str:
        """Whether the promise is kept."""
        if not self.case.judged:
            return "-"
        _, ratio, _ = self.quartiles
        kept = ratio <= MANY_RATIO if self.rows > 1 else ratio <= ONE_RATIO and self.times["explain"].ms <= ONE_MS
        return "yes" if kept else "NO"


def cases() -> list[Case]:
    """Every method on the menu, fitted for one epoch: its speed does not depend on what it has learned."""
    data = lx.load_data("s3", rows=MANY, seed=0)
    model = black_box.train(data.train, epochs=1)
    found = []
    for name in lx.METHODS:
        explainer = lx.Explainer(name, epochs=1, device="cpu").fit(data.train.x, model=model)
        found.append(Case(name, explainer))
        if explainer.method_.reads_output:
            found.append(Case(f"{name}, asking the model", explainer, anew=True, judged=False))
    return found


def calls(case: Case, pool: np.ndarray, rows: int) -> dict[str, Call]:
    """`explain`, the bare network, and the stages that `explain` goes through, each alone."""
    explainer: Any = case.explainer
    method, features, ask = explainer.method_, explainer.features_, explainer.model_function_
    selector: Any = method.selector
    x = pool[:rows]
    given = [pool.take(range(first, first + rows), axis=0, mode="wrap") for first in range(DIFFERENT)] if case.anew else [x]
    encoded = features.encode(x).x
    context = None if not method.reads_output else torch.as_tensor(ask(x), dtype=torch.float32)

    @torch.inference_mode()
    def network(_: int) -> Tensor:
        scores: Tensor = selector.network(encoded) if context is None else selector.network(encoded, context)
        return scores

    logits = network(0)

    @torch.inference_mode()
    def scores_and_mask(_: int) -> tuple[Tensor, Tensor]:
        p = selector.family(logits + selector.offset, None)
        return p.mean, p.mode

    explanation = explainer.explain(x)
    found: dict[str, Call] = {
        "explain": lambda repeat: explainer.explain(given[repeat % len(given)]),
        "network": network,
        "encode": lambda _: features.encode(x).x,
        "scores and mask": scores_and_mask,
        "record": lambda _: replace(explanation),
    }
    if context is not None:
        # half a turn away, or it would meet the answer that `explain` has just had
        found["ask the model"] = lambda repeat: ask(given[(repeat + len(given) // 2) % len(given)])
    return found


def measure(seconds: float) -> list[Measured]:
    """Every case, with 10,000 rows and with one, on one thread and on all, at most so many seconds each."""
    x = lx.load_data("s3", rows=MANY, seed=1).test.x
    found: list[Measured] = []
    fitted = cases()
    for rows, repeats in REPEATS.items():
        for count in sorted({1, torch.get_num_threads()}):
            with threads(count):
                timed = ((case, interleaved(calls(case, x, rows), repeats, seconds=seconds)) for case in fitted)
                found.extend(Measured(case, rows, count, times) for case, times in timed)
    return found


def sheets(measured: Sequence[Measured]) -> list[Sheet]:
    """The ratios, and where the time goes."""
    ratios, stages = [], []
    for m in measured:
        low, middle, high = m.quartiles
        limit = "-" if not m.case.judged else f"{MANY_RATIO:g}" if m.rows > 1 else f"{ONE_RATIO:g} and {ONE_MS:g} ms"
        who = [m.case.label, f"{m.rows:,}", str(m.threads)]
        spread = f"{low:.2f} to {high:.2f}"
        ms = {call: f"{times.ms:.3f}" for call, times in m.times.items()}
        ratios.append([*who, ms["network"], ms["explain"], f"{middle:.2f}", spread, f"{m.cpu_ratio:.2f}", limit, m.holds])
        stages.append([*who, str(len(m.times["explain"].wall)), ms["explain"], *(ms.get(stage, "") for stage in STAGES)])
    return [
        Sheet(
            "explain beside the bare selector network",
            ["method", "rows", "threads", "bare ms", "explain ms", "ratio", "its middle half", "CPU ratio", "limit", "within"],
            ratios,
            [
                "Bare: `selector.network(x)` in inference mode on encoded rows. Explain: `explainer.explain(X)` from a NumPy array.",
                "Times are medians; the ratio is the median of explain / bare over repeats that ran both, in wall time, which is judged, "
                "and in CPU time, which does not count waiting for a core that other processes hold.",
                "With more threads than free cores the threads wait for each other after every operation, and the ratio is one of "
                "numbers of operations: read those lines on an idle machine only.",
                "A method that shows its selector the model's output finds here the answer that it remembers for these rows; "
                "`asking the model` brings other rows each time, so that the explained model (3 x 200 itself) runs too.",
            ],
        ),
        Sheet(
            "Where explain spends its time (ms)",
            ["method", "rows", "threads", "repeats", "explain", *STAGES],
            stages,
            ["Medians of each stage run alone; what is left of explain is its own Python. Record: building the Explanation."],
        ),
    ]


def run(*, quick: bool = False, seconds: float = 10.0) -> list[Sheet]:
    """Measure and lay out."""
    return sheets(measure(1.0 if quick else seconds))


def main() -> None:
    """Print the sheets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="that each line of the table may take; at least 5 repeats are made")
    parser.add_argument("--quick", action="store_true", help="one second a line: to see that it runs, not to quote")
    told = parser.parse_args()
    for sheet in run(quick=told.quick, seconds=told.seconds):
        sheet.show(Console(width=200))


if __name__ == "__main__":
    main()
