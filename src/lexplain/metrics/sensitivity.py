"""How much an explanation changes when its row hardly does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from .. import check
from ..core.rows import MAX_ROWS
from .metric import metric
from .model_calls import copied, in_parts, together


@metric(
    label="Sensitivity",
    higher_is_better=False,
    description="greatest change of the scores near a row, relative to the scores; 0 does not move at all",
)
def sensitivity(
    explain: Callable[..., Tensor],
    x: Tensor,
    *,
    context: Tensor | None = None,
    radius: float = 0.2,
    draws: int = 50,
    max_rows: int = MAX_ROWS,
    generator: Generator | None = None,
) -> Tensor:
    """The maximum over draws of |E(x + δ) - E(x)| / |E(x)|, δ uniform within the radius; NaN where E(x) is 0.

    More draws find a greater maximum: compare explainers at the same number.

    Args:
        explain: encoded rows (n, ...) to scores (n, d); with a context, of both.
        x: (b, ...) encoded rows.
        context: (b, ...) what explain reads beside each row and what stays as it is: the class explained, or the model's output.
        radius: most that each value moves.
        draws: rows near each row.
        max_rows: most rows explained at a time; beside them, one draw for all rows is held.
        generator: of the draws.

    Reference: Yeh et al., On the (In)fidelity and Sensitivity of Explanations, 2019, section 3; relative as in Liang et al., 2020.
    """
    check.counts(draws=draws, max_rows=max_rows)
    check.positive(radius=radius)
    here = _explain(explain, x, context, max_rows)
    greatest = here.new_zeros(len(x))
    for _, there in _near(explain, x, context, radius, draws, max_rows, generator):
        greatest = torch.maximum(greatest, _length(there - here).amax(0))
    length = _length(here)
    return torch.where(length > 0, greatest / length, torch.nan)


def _near(
    explain: Callable[..., Tensor], x: Tensor, context: Tensor | None, radius: float, draws: int, max_rows: int, generator: Generator | None
) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows near x (draws x b, ...) and their scores (draws, b, d), as many draws at a time as may be in flight."""
    for group in together(draws, len(x), max_rows):
        steps = [2 * torch.rand(x.shape, generator=generator, dtype=x.dtype, device=x.device) - 1 for _ in group]
        near = torch.cat([x + radius * step for step in steps])
        beside = None if context is None else copied(context, len(group))
        there = _explain(explain, near, beside, max_rows)
        yield near, there.reshape(len(group), len(x), -1)


def _explain(explain: Callable[..., Tensor], x: Tensor, context: Tensor | None, max_rows: int) -> Tensor:
    """Scores (n, d) in double precision; gradients stay on inside, which explainers may need."""
    rows = (x,) if context is None else (x, context)
    return in_parts(lambda *part: explain(*part).detach().double().flatten(1), *rows, max_rows=max_rows)


def _length(change: Tensor) -> Tensor:
    """The length (..., b) of vectors (..., b, d)."""
    length: Tensor = torch.linalg.vector_norm(change, dim=-1)
    return length
