"""How much an explanation changes when its row hardly does."""

from __future__ import annotations

import torch
from torch import Generator, Tensor
from torch.linalg import vector_norm

from .. import check
from ..evaluation import SUBSAMPLE_ROWS, Evaluation
from .measure import measure
from .model_calls import QueriedFunction, copied


def sensitivity(
    explain: QueriedFunction,
    x: Tensor,
    *,
    context: Tensor | None = None,
    radius: float = 0.2,
    draws: int = 50,
    generator: Generator | None = None,
) -> Tensor:
    """The maximum over draws of |E(x + δ) - E(x)| / |E(x)|, δ uniform within the radius; NaN where E(x) is 0.

    More draws find a greater maximum: compare explainers at the same number.

    Args:
        explain: encoded rows (n, ...) to scores (n, d); with a context, of both. Beside the rows explained at a time, one draw for
            all rows is held.
        x: (b, ...) encoded rows.
        context: (b, ...) what explain reads beside each row and what stays as it is: the class explained, or the model's output.
        radius: most that each value moves.
        draws: rows near each row.
        generator: of the draws.

    Reference: Yeh et al., On the (In)fidelity and Sensitivity of Explanations, 2019, section 3; relative as in Liang et al., 2020.
    """
    check.counts(draws=draws)
    check.positive(radius=radius)
    beside = () if context is None else (context,)

    def scores(*rows: Tensor) -> Tensor:  # in double precision; gradients stay on inside, which explainers may need
        return explain.in_parts(lambda *part: explain.function(*part).detach().double().flatten(1), *rows)

    here = scores(x, *beside)
    greatest = here.new_zeros(len(x))
    for group in explain.groups(draws, len(x)):
        steps = [2 * torch.rand(x.shape, generator=generator, dtype=x.dtype, device=x.device) - 1 for _ in group]
        near = torch.cat([x + radius * step for step in steps])
        there = scores(near, *(copied(each, len(group)) for each in beside))
        greatest = torch.maximum(greatest, vector_norm(there.reshape(len(group), len(x), -1) - here, dim=-1).amax(0))
    length = vector_norm(here, dim=-1)
    return torch.where(length > 0, greatest / length, torch.nan)


@measure(
    "sensitivity",
    label="Sensitivity",
    better=False,
    description="greatest change of the scores near a row, relative to the scores; 0 does not move at all",
    needs=("explainer", "quantities"),
    group="stability",
    family="robustness",
    included="usually",
)
def score_sensitivity(evaluation: Evaluation) -> Tensor:
    """The true maximum by which scores change within a small radius."""
    assert evaluation.callables.explain is not None  # `needs` says so
    explain, x = (
        QueriedFunction(evaluation.callables.explain, evaluation.run.max_rows),
        evaluation.rows.x[evaluation.sampled[: SUBSAMPLE_ROWS // 5]],
    )
    return sensitivity(explain, x, generator=evaluation.generator())
