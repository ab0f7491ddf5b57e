"""How much is kept."""

from __future__ import annotations

from torch import Tensor

from ...evaluation import Evaluation
from ...metrics.selection import empty, kept, selection_rate
from ..measure import Measure, of_metric

GROUP = "selection"


def _kept(evaluation: Evaluation) -> Tensor:
    return kept(evaluation.mask)


def _rate(evaluation: Evaluation) -> Tensor:
    return selection_rate(evaluation.mask, evaluation.valid)


def _empty(evaluation: Evaluation) -> Tensor:
    return empty(evaluation.mask)


SELECTION: list[Measure] = [
    of_metric("kept", kept, _kept, group=GROUP, taken="always"),
    of_metric(
        "selection_rate",
        selection_rate,
        _rate,
        group=GROUP,
        taken="always",
    ),
    of_metric("empty", empty, _empty, group=GROUP, taken="always"),
]
