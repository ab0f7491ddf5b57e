"""Ask a model about many copies of rows, few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .. import check
from ..core import Batch
from ..core.rows import MAX_ROWS
from ..evaluation import Evaluation, retrain

Retrain = Callable[[Batch], "QueriedFunction"]  # rows to a model that has learned from them alone


@dataclass(frozen=True)
class QueriedFunction:
    """A function of encoded rows (n, ...), a model or an explainer, and how many rows it may be asked about at a time."""

    function: Callable[..., Tensor]
    max_rows: int = MAX_ROWS

    def __post_init__(self) -> None:
        check.counts(max_rows=self.max_rows)

    @torch.no_grad()
    def __call__(self, x: Tensor) -> Tensor:
        """What the function says (n, c) of rows (n, ...), in double precision and without gradients."""
        return self.in_parts(lambda part: self.function(part).detach().double(), x)

    def in_parts(self, function: Callable[..., Tensor], *rows: Tensor) -> Tensor:
        """Give any function tensors (n, ...) with at most `max_rows` rows at a time, fewer where the device runs out of memory."""
        try:
            return torch.cat([function(*part) for part in zip(*(torch.split(tensor, self.max_rows) for tensor in rows), strict=True)])
        except torch.cuda.OutOfMemoryError:
            fewer = min(self.max_rows, len(rows[0])) // 2
            if fewer == 0:
                raise
        torch.cuda.empty_cache()
        return replace(self, max_rows=fewer).in_parts(function, *rows)

    def groups(self, copies: int, rows: int) -> Iterator[range]:
        """So many copies of rows in groups, each of as many copies as may be in flight and of one at the least."""
        size = max(1, self.max_rows // max(1, rows))
        return (range(first, min(first + size, copies)) for first in range(0, copies, size))

    def explained_class(self, x: Tensor, target: Tensor | None) -> tuple[Tensor, Tensor]:
        """The class explained (b,), the predicted one unless given, and what the function says of it (b,) on whole rows."""
        said = self(x)
        target = said.argmax(1) if target is None else target.to(said.device)
        return target, said.gather(1, target[:, None]).squeeze(1)

    def class_outputs(self, x: Tensor, target: Tensor) -> Tensor:
        """What the function says (copies, b) of the class explained (b,), from rows (copies x b, ...)."""
        copies = len(x) // len(target)
        return self(x).gather(1, copied(target, copies)[:, None]).reshape(copies, len(target))


def copied(x: Tensor, copies: int) -> Tensor:
    """Rows (b, ...) again and again: (copies x b, ...)."""
    return x.expand(copies, *x.shape).flatten(0, 1)


def model_of(evaluation: Evaluation) -> QueriedFunction:
    """The model that is explained."""
    assert evaluation.callables.model is not None  # `needs` says so
    return QueriedFunction(evaluation.callables.model, evaluation.run.max_rows)


def retrain_of(evaluation: Evaluation) -> Retrain:
    """What trains networks from scratch to predict the evaluation's target."""
    features, outputs, run = evaluation.features, evaluation.outputs, evaluation.run

    def learned(rows: Batch) -> QueriedFunction:
        return QueriedFunction(retrain(rows, features, outputs, fabric=run.fabric, seed=run.seed, max_rows=run.max_rows), run.max_rows)

    return learned
