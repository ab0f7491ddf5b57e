"""Infidelity: error of scores as predictions of how the output changes when features are perturbed."""

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
from .model_calls import QueriedFunction, model_of, outputs_of

DRAWS = 200  # perturbations per row in an audit

Perturbation = Callable[[Tensor, Generator | None], tuple[Tensor, Tensor]]
"""Function from rows (b, ...) to perturbed rows (b, ...) and the size (b, d) of each feature's perturbation."""


def hidden_features(features: Features, imputer: nn.Module, *, rate: float = 0.5, valid: Tensor | None = None) -> Perturbation:
    """Hide each feature with the same probability; hidden features count as perturbed by 1. For scores that add up to the output.

    Args:
        features: Fitted features.
        imputer: Replaces hidden values.
        rate: Share of the features that are hidden.
        valid: (b, d) of bool for the perturbed rows, False for padding, which is never hidden. None: no padding.

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
    outputs: Tensor | None = None,
    scaled: bool = False,
    draws: int = 1000,
    generator: Generator | None = None,
) -> Tensor:
    """E[(I' scores - (f(x) - f(x perturbed by I)))²] per row.

    Args:
        model: Function from encoded rows (n, ...) to outputs (n, c); the paper uses logits. In addition to the rows of one call, one
            perturbation of all rows is held in memory.
        perturb: Perturbation of rows, such as `hidden_features`.
        x: Encoded rows (b, ...).
        scores: Scores (b, d) of their features.
        target: Explained class (b,). None: the predicted class.
        outputs: Outputs (b, c) of the model for these rows. None: it is queried.
        scaled: Whether to multiply each row's scores by the factor with the smallest error, so that their unit does not matter.
        draws: Perturbations per row.
        generator: Random generator for the perturbations.

    Reference: Yeh et al., On the (In)fidelity and Sensitivity of Explanations, 2019, definition 2.1, and its experiments for the scaling.
    """
    check.counts(draws=draws)
    outputs = model(x) if outputs is None else outputs
    target = outputs.argmax(1) if target is None else target.to(outputs.device)
    full = outputs.gather(1, target[:, None]).squeeze(1)
    predicted_square, product, change_square, error = (full.new_zeros(len(x)) for _ in range(4))
    for group in model.groups(draws, len(x)):
        perturbed = [perturb(x, generator) for _ in group]  # one at a time, so that results do not depend on the groups
        predicted = torch.stack([(sizes.double() * scores.double()).sum(1) for _, sizes in perturbed])  # (draws, b)
        change = full - model.class_outputs(torch.cat([rows for rows, _ in perturbed]), target)
        predicted_square += predicted.square().sum(0)
        product += (predicted * change).sum(0)
        change_square += change.square().sum(0)
        error += (predicted - change).square().sum(0)
    if not scaled:
        return error / draws
    # The best factor is product / predicted_square. If all predicted changes are 0, no factor reduces the error.
    best = torch.where(predicted_square > 0, product.square() / predicted_square.clamp_min(torch.finfo(torch.float64).tiny), 0.0)
    return (change_square - best).clamp_min(0) / draws


@measure(
    "infidelity",
    label="Infidelity",
    better=False,
    description="mean squared error between score-predicted and actual output changes; 0 is perfect",
    needs=("model",),
    group="fidelity",
    family="infidelity",
    included="usually",
)
def scaled_infidelity(evaluation: Evaluation) -> Tensor:
    """Infidelity to the effect of hiding features, with the best scaling of each row's scores."""
    index, target = evaluation.sampled, evaluation.explanation.target_index
    rows = evaluation.rows.take(index)
    return infidelity(
        model_of(evaluation),
        hidden_features(evaluation.features, Constant(0.0), valid=rows.valid),
        rows.x,
        evaluation.explanation.scores[index],
        target=None if target is None else target[index],
        outputs=outputs_of(evaluation)[index],
        scaled=True,
        draws=DRAWS,
        generator=evaluation.generator(),
    )
