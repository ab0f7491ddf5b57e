"""Query a model on many copies of rows, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .. import check
from ..core import Batch
from ..core.rows import MAX_ROWS
from ..evaluation import Evaluation, retrain

Retrain = Callable[[Batch], "QueriedFunction"]  # from rows to a model that is trained on them only


@dataclass(frozen=True)
class QueriedFunction:
    """A model or an explainer as a function of encoded rows (n, ...), and the maximum number of rows per call."""

    function: Callable[..., Tensor]
    max_rows: int = MAX_ROWS

    def __post_init__(self) -> None:
        check.counts(max_rows=self.max_rows)

    @torch.no_grad()
    def __call__(self, x: Tensor) -> Tensor:
        """Outputs (n, c) of the function for rows (n, ...), in double precision and without gradients."""
        return self.in_parts(lambda part: self.function(part).detach().double(), x)

    def in_parts(self, function: Callable[..., Tensor], *rows: Tensor) -> Tensor:
        """Call a function on tensors (n, ...) in parts of at most `max_rows` rows, or fewer if the device runs out of memory."""
        try:
            return torch.cat([function(*part) for part in zip(*(torch.split(tensor, self.max_rows) for tensor in rows), strict=True)])
        except torch.cuda.OutOfMemoryError:
            fewer = min(self.max_rows, len(rows[0])) // 2
            if fewer == 0:
                raise
        torch.cuda.empty_cache()
        return replace(self, max_rows=fewer).in_parts(function, *rows)

    def groups(self, copies: int, rows: int) -> Iterator[range]:
        """Indices of `copies` copies of rows, in groups that fit into one call, with at least one copy each."""
        size = max(1, self.max_rows // max(1, rows))
        return (range(first, min(first + size, copies)) for first in range(0, copies, size))

    def class_outputs(self, x: Tensor, target: Tensor) -> Tensor:
        """Outputs (copies, b) of the function for the explained class (b,), from rows (copies x b, ...)."""
        copies = len(x) // len(target)
        return self(x).gather(1, copied(target, copies)[:, None]).reshape(copies, len(target))


def copied(x: Tensor, copies: int) -> Tensor:
    """Rows (b, ...) repeated to (copies x b, ...)."""
    return x.expand(copies, *x.shape).flatten(0, 1)


def model_of(evaluation: Evaluation) -> QueriedFunction:
    """The explained model."""
    assert evaluation.callables.model is not None  # a need of the measure
    return QueriedFunction(evaluation.callables.model, evaluation.run.max_rows)


def outputs_of(evaluation: Evaluation) -> Tensor:
    """Outputs (b, c) of the explained model for the full rows. It is queried only if they are not known."""
    known = evaluation.callables.outputs
    return model_of(evaluation)(evaluation.rows.x) if known is None else known


def retrain_of(evaluation: Evaluation) -> Retrain:
    """A function that trains networks from scratch to predict the evaluation's target."""
    features, outputs, run = evaluation.features, evaluation.outputs, evaluation.run

    def trained(rows: Batch) -> QueriedFunction:
        return QueriedFunction(retrain(rows, features, outputs, fabric=run.fabric, seed=run.seed, max_rows=run.max_rows), run.max_rows)

    return trained
