"""Does the choice of the mask give the answer away?"""

from __future__ import annotations

import torch
from torch import Tensor

from ...core import target_values
from ...evaluation import Evaluation
from ...metrics.encoding import encoding
from ...metrics.selection import mask_only_accuracy
from ..measure import Measure, of_metric

GROUP = "honesty"


def _mask_only(evaluation: Evaluation) -> Tensor:
    values = torch.zeros(len(evaluation.rows), dtype=torch.double)
    for learn, mask, _, at in evaluation.folds:
        theirs, own = (target_values(rows.target).argmax(1) for rows in (learn, evaluation.rows.take(at)))
        values[at] = mask_only_accuracy(mask, theirs, evaluation.mask[at], own)
    return values


def _encoding(evaluation: Evaluation) -> Tensor:
    return evaluation.encoding


HONESTY: list[Measure] = [
    of_metric(
        "mask_only_acc",
        mask_only_accuracy,
        _mask_only,
        needs=("classes", "masks"),
        group=GROUP,
        taken="always",
    ),
    of_metric("encoding", encoding, _encoding, needs=("masks",), group=GROUP, taken="always", judged=True),
]
