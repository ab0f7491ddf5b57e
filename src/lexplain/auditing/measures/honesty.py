"""Does the choice of the mask give the answer away?"""

from __future__ import annotations

from torch import Tensor

from ...metrics.encoding import encoding
from ...metrics.selection import mask_only_accuracy
from ..evaluation import Evaluation
from ..measure import Measure, of_metric

GROUP = "honesty"


def _mask_only(evaluation: Evaluation) -> Tensor:
    return evaluation.mask_only


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
