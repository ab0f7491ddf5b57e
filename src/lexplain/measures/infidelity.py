"""Does a score say how much the model's output changes when its feature is perturbed?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

from .. import check
from ..core.contracts import Features
from ..evaluation import Evaluation
from ..features import encoded_mask
from ..imputers import Constant
from .measure import measure
from .model_calls import QueriedFunction, model_of

DRAWS = 200  # perturbations of a row in an audit

Perturbation = Callable[[Tensor, Generator | None], tuple[Tensor, Tensor]]
"""Rows (b, ...) to perturbed rows (b, ...), and by how much (b, d) each feature was perturbed."""


def hidden_features(features: Features, imputer: nn.Module, *, rate: float = 0.5, valid: Tensor | None = None) -> Perturbation:
    """Hide each feature with the same probability; those hidden are perturbed by 1. For scores that are parts of the output.

    Args:
        features: feature masks to raw masks.
        imputer: fills what is hidden.
        rate: share of the features that are hidden.
        valid: (b, d) of bool of the rows that will be perturbed: padding is never hidden; None: all are there.

    Reference: Yeh et al., On the (In)fidelity and Sensitivity of Explanations, 2019, section 2 (difference to a subset of the baseline).
    """

    def perturb(x: Tensor, generator: Generator | None) -> tuple[Tensor, Tensor]:
        hidden = torch.rand(len(x), features.count, generator=generator, device=x.device) < rate
        hidden = hidden if valid is None else hidden & valid.to(x.device)
        return imputer(x, encoded_mask(features, ~hidden, None if valid is None else valid.to(x.device))), hidden.to(x.dtype)

    return perturb


def infidelity(
    model: QueriedFunction,
    perturb: Perturbation,
    x: Tensor,
    scores: Tensor,
    *,
    target: Tensor | None = None,
    scaled: bool = False,
    draws: int = 1000,
    generator: Generator | None = None,
) -> Tensor:
    """E[(I' scores - (f(x) - f(x perturbed by I)))²] for each row.

    Args:
        model: encoded rows (n, ...) to outputs (n, c); logits where the paper is to be met. Beside the rows that it may be asked
            about at a time, the perturbations of one draw for all rows are held.
        perturb: what happens to rows, such as `hidden_features`.
        x: (b, ...) encoded rows.
        scores: (b, d) of their features.
        target: (b,) the class explained; None: the predicted one.
        scaled: multiply each row's scores by the number that suits them best, so that their unit does not matter.
        draws: perturbations of each row.
        generator: of the perturbations.

    Reference: Yeh et al., On the (In)fidelity and Sensitivity of Explanations, 2019, definition 2.1, and its experiments for the scaling.
    """
    check.counts(draws=draws)
    target, whole = model.explained_class(x, target)
    foretold_square, product, change_square, error = (whole.new_zeros(len(x)) for _ in range(4))
    for group in model.groups(draws, len(x)):
        drawn = [perturb(x, generator) for _ in group]  # one draw at a time, so that the groups do not change them
        foretold = torch.stack([(by.double() * scores.double()).sum(1) for _, by in drawn])  # (draws, b)
        change = whole - model.class_outputs(torch.cat([rows for rows, _ in drawn]), target)
        foretold_square += foretold.square().sum(0)
        product += (foretold * change).sum(0)
        change_square += change.square().sum(0)
        error += (foretold - change).square().sum(0)
    if not scaled:
        return error / draws
    # The best factor is product / foretold_square; scores that foretell nothing keep the whole error, whatever their factor.
    best = torch.where(foretold_square > 0, product.square() / foretold_square.clamp_min(torch.finfo(torch.float64).tiny), 0.0)
    return (change_square - best).clamp_min(0) / draws


@measure(
    "infidelity",
    label="Infidelity",
    better=False,
    description="mean squared error of the change in the output that the scores foretell; 0 foretells every change",
    needs=("model",),
    group="fidelity",
    family="infidelity",
    included="usually",
)
def scaled_infidelity(evaluation: Evaluation) -> Tensor:
    """How far scores are from saying what hiding features does to the model, in the unit that suits the scores best."""
    some, target = evaluation.sampled, evaluation.explanation.target_index
    rows = evaluation.rows.take(some)
    return infidelity(
        model_of(evaluation),
        hidden_features(evaluation.features, Constant(0.0), valid=rows.valid),
        rows.x,
        evaluation.explanation.scores[some],
        target=None if target is None else target[some],
        scaled=True,
        draws=DRAWS,
        generator=evaluation.generator(),
    )
