"""Sensitivity: change of scores under small changes of the row."""

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
    """The maximum of |E(x + δ) - E(x)| / |E(x)| over random δ, uniform within the radius. NaN if E(x) is 0.

    More samples find a larger maximum, so compare explainers with the same number.

    Args:
        explain: Function from encoded rows (n, ...), and the context if there is one, to scores (n, d). In addition to the rows of one
            call, one sample for all rows is held in memory.
        x: Encoded rows (b, ...).
        context: What explain reads in addition to each row (b, ...) and what does not change: the explained class, or the model's output.
        radius: Maximum change of each value.
        draws: Number of random changes per row.
        generator: Random generator of the changes.

    Reference: Yeh et al., On the (In)fidelity and Sensitivity of Explanations, 2019, section 3; relative as in Liang et al., 2020.
    """
    check.counts(draws=draws)
    check.positive(radius=radius)
    extra = () if context is None else (context,)

    def scores(*rows: Tensor) -> Tensor:  # in double precision; with gradients enabled, which explainers may need
        return explain.in_parts(lambda *part: explain.function(*part).detach().double().flatten(1), *rows)

    scores_x = scores(x, *extra)
    maximum = scores_x.new_zeros(len(x))
    for group in explain.groups(draws, len(x)):
        steps = [2 * torch.rand(x.shape, generator=generator, dtype=x.dtype, device=x.device) - 1 for _ in group]
        near = torch.cat([x + radius * step for step in steps])
        scores_near = scores(near, *(copied(each, len(group)) for each in extra))
        maximum = torch.maximum(maximum, vector_norm(scores_near.reshape(len(group), len(x), -1) - scores_x, dim=-1).amax(0))
    length = vector_norm(scores_x, dim=-1)
    return torch.where(length > 0, maximum / length, torch.nan)


@measure(
    "sensitivity",
    label="Sensitivity",
    better=False,
    description="largest relative change of scores under small changes of the row; 0 means unchanged scores",
    needs=("explainer", "quantities"),
    group="stability",
    family="robustness",
    included="usually",
)
def score_sensitivity(evaluation: Evaluation) -> Tensor:
    """Largest relative change of scores within a small radius."""
    assert evaluation.callables.explain is not None  # a need of the measure
    explain, x = (
        QueriedFunction(evaluation.callables.explain, evaluation.run.max_rows),
        evaluation.rows.x[evaluation.sampled[: SUBSAMPLE_ROWS // 5]],
    )
    return sensitivity(explain, x, generator=evaluation.generator())
