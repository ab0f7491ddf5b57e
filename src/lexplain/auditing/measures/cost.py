"""What an explanation takes."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...evaluation import Evaluation
from ...metrics.speed import pays_from, speed
from ...metrics.statistics import Estimate
from ..kernel_shap import BACKGROUND, PEER_ROWS, kernel_shap_seconds
from ..measure import Measure

GROUP = "cost"


def milliseconds_a_row(evaluation: Evaluation) -> Estimate:
    """Milliseconds of an explanation."""
    assert evaluation.questions.explain is not None  # `needs` says so
    x = evaluation.rows.x[evaluation.some]  # a few: some explainers take a second for each
    measured = 1000 * speed(evaluation.questions.explain, x, repeats=3).seconds_a_row
    return Estimate(measured, measured, measured, len(x))


def break_even_rows(evaluation: Evaluation, clock: Callable[[], float] = time.perf_counter) -> Estimate:
    """From how many rows on fitting and explaining is cheaper than KernelSHAP on the same model."""
    asked = evaluation.questions
    assert asked.explain is not None and asked.says is not None and asked.fit_seconds is not None
    x = evaluation.rows.x[evaluation.some]
    own = speed(asked.explain, x, repeats=3, clock=clock).seconds_a_row
    seed = evaluation.run.seed
    peer = kernel_shap_seconds(asked.says, evaluation.features, evaluation.background, x[:PEER_ROWS], seed=seed, clock=clock)
    return pays_from(asked.fit_seconds, own, peer)


COST: list[Measure] = [
    Measure(
        "milliseconds_a_row",
        "Milliseconds a row",
        milliseconds_a_row,
        higher_is_better=False,
        description="milliseconds to explain a row, many at a time, the fit not counted",
        needs=("explainer",),
        group=GROUP,
        family="speed",
        taken="usually",
    ),
    Measure(
        "break_even_rows",
        "Break-even rows, KernelSHAP",
        break_even_rows,
        higher_is_better=False,
        description=(
            f"from so many rows on, the fit and its explanations take less time than shap's KernelSHAP ({BACKGROUND} background rows, its "
            "own number of subsets), with the interval of the few rows that were timed; inf: never"
        ),
        needs=("peer",),
        group=GROUP,
        family="break-even",
    ),
]
