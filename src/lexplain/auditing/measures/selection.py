"""How much is kept."""

from __future__ import annotations

from torch import Tensor

from ...metrics.selection import empty, kept, selection_rate
from ..evidence import Evidence
from ..measure import Measure, of_metric

GROUP = "selection"


def _kept(evidence: Evidence) -> Tensor:
    return kept(evidence.mask)


def _rate(evidence: Evidence) -> Tensor:
    return selection_rate(evidence.mask, evidence.valid)


def _empty(evidence: Evidence) -> Tensor:
    return empty(evidence.mask)


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
