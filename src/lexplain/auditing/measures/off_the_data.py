"""Do rows with hidden features still look real?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ...core.contracts import Imputer
from ...evaluation import SOME, Evaluation
from ...features import raw_mask
from ...imputers import Constant, Marginal
from ...metrics.off_data import off_data
from ..measure import Measure, of_metric

GROUP = "off the data"


def _mean(evaluation: Evaluation) -> Imputer:  # noqa: ARG001  as of other rows
    return Constant(0.0)


def _other_rows(evaluation: Evaluation) -> Imputer:
    return Marginal(evaluation.background)


def _filled_by(make: Callable[[Evaluation], Imputer], evaluation: Evaluation) -> Tensor:
    """How easily rows whose hidden features are filled are told from real ones."""
    some = evaluation.apart[torch.randperm(len(evaluation.apart), generator=evaluation.draws())[:SOME]]
    real = evaluation.background[torch.randperm(len(evaluation.background), generator=evaluation.draws())[: len(some)]]
    rows = evaluation.rows.take(some)
    filled = make(evaluation)(rows.x, raw_mask(evaluation.features, evaluation.mask[some], rows.valid))
    return off_data(filled, real, seed=evaluation.run.seed)


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
