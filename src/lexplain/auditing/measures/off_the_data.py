"""Do rows with hidden features still look real?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ...core.contracts import Imputer
from ...features import raw_mask
from ...imputers import Constant, Marginal
from ...metrics.off_data import off_data
from ..evidence import SOME, Evidence
from ..measure import Measure, of_metric

GROUP = "off the data"


def _mean(evidence: Evidence) -> Imputer:  # noqa: ARG001  as of other rows
    return Constant(0.0)


def _other_rows(evidence: Evidence) -> Imputer:
    return Marginal(evidence.background)


def _filled_by(make: Callable[[Evidence], Imputer], evidence: Evidence) -> Tensor:
    """How easily rows whose hidden features are filled are told from real ones."""
    some = evidence.apart[torch.randperm(len(evidence.apart), generator=evidence.draws())[:SOME]]
    real = evidence.background[torch.randperm(len(evidence.background), generator=evidence.draws())[: len(some)]]
    rows = evidence.rows.take(some)
    filled = make(evidence)(rows.x, raw_mask(evidence.features, evidence.mask[some], rows.valid))
    return off_data(filled, real, seed=evidence.run.seed)


OFF_THE_DATA: list[Measure] = [
    of_metric(
        "off_data_mean",
        off_data,
        partial(_filled_by, _mean),
        label="Off the data, mean",
        group=GROUP,
        family=GROUP,
        taken="usually",
    ),
    of_metric(
        "off_data_other_rows",
        off_data,
        partial(_filled_by, _other_rows),
        label="Off the data, other rows",
        group=GROUP,
        family=GROUP,
        taken="usually",
    ),
]
