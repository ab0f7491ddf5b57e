"""Outputs of a model while features are added or removed in the order of their scores."""

from __future__ import annotations

from functools import partial

import torch
from torch import Generator, Tensor, nn

from .. import check
from ..core.contracts import Features
from ..evaluation import Evaluation
from ..features import encoded_mask
from ..imputers import Constant, Marginal
from .measure import measure
from .model_calls import QueriedFunction, copied, model_of, outputs_of
from .statistics import positions, scores_of_rows

STEPS = 50  # maximum number of steps, to limit queries if there are many features


def sizes(count: int, steps: int = STEPS) -> Tensor:
    """How many of `count` features are added or removed at each step (steps + 1,), from none to all, in at most `count` steps."""
    steps = min(count, steps)
    return torch.arange(steps + 1) * count // steps


def curve(
    model: QueriedFunction,
    features: Features,
    x: Tensor,
    scores: Tensor,
    *,
    deletes: bool = False,
    valid: Tensor | None = None,
    target: Tensor | None = None,
    imputer: nn.Module | None = None,
    steps: int = STEPS,
    generator: Generator | None = None,
) -> Tensor:
    """Outputs (steps + 1, b) of a model for the explained class, while features are added or removed by descending score.

    Args:
        model: Function from encoded rows (n, ...) to probabilities (n, c), or values (n, 1).
        features: Fitted features.
        x: Encoded rows (b, ...).
        scores: Scores (b, d) of their features. Ties are ordered at random, separately per row.
        deletes: Whether to start with all features and remove them, instead of adding them.
        valid: (b, d) of bool, False for padding. None: no padding.
        target: Explained class (b,). None: the predicted class.
        imputer: Replaces hidden values, with new random values in each step. None: 0, which is the mean of a column.
        steps: Maximum number of steps; see `sizes`.
        generator: Random generator for the order of ties.

    Reference: Petsiuk et al., RISE, 2018, section 4 (insertion and deletion).
    """
    check.counts(steps=steps)
    scores = scores_of_rows(scores, x, features.count)
    rank = positions(-scores if deletes else scores, generator, valid)  # when removing, the lowest score stays longest
    total = torch.tensor([features.count]) if valid is None else valid.sum(1).cpu()
    steps = min(features.count, steps)
    visible = torch.arange(steps + 1)[:, None] * total // steps  # (steps + 1, b or 1)
    visible = total - visible if deletes else visible
    impute = Constant(0.0).to(x.device) if imputer is None else imputer
    target = model(x).argmax(1) if target is None else target.to(x.device)
    outputs = []
    for group in model.groups(len(visible), len(x)):
        mask = rank < visible[group.start : group.stop, :, None].to(x.device)  # (steps, b, d)
        exists = None if valid is None else copied(valid, len(group))
        rows, encoded = copied(x, len(group)), encoded_mask(features, mask.flatten(0, 1), exists)
        with torch.no_grad():
            imputed = model.in_parts(impute, rows, encoded)
        outputs.append(model.class_outputs(imputed, target))
    return torch.cat(outputs)


def area(curve: Tensor, count: int) -> Tensor:
    """Mean height (b,) of a curve (steps + 1, b) over the share of features added or removed, by the trapezoidal rule."""
    shares = sizes(count, len(curve) - 1).to(curve.device).double() / count
    return torch.trapezoid(curve.double(), shares, dim=0)


@measure(
    "insertion",
    label="Insertion",
    better=True,
    description="mean probability of the explained class while features are added, most important first",
    needs=("model",),
    group="fidelity",
    family="curves",
    included="usually",
)
def insertion(evaluation: Evaluation, *, deletes: bool = False) -> Tensor:
    """Area (b,) under a curve. Hidden features take values of background rows."""
    imputer, target, generator = Marginal(evaluation.background), evaluation.explanation.target_index, evaluation.generator()
    target = outputs_of(evaluation).argmax(1) if target is None else target  # the predicted class
    areas = []
    for index in torch.split(torch.arange(len(evaluation.rows)), evaluation.run.max_rows):  # limits memory
        rows = evaluation.rows.take(index)
        outputs = curve(
            model_of(evaluation),
            evaluation.features,
            rows.x,
            evaluation.explanation.scores[index],
            deletes=deletes,
            valid=rows.valid,
            target=target[index],
            imputer=imputer,
            generator=generator,
        )
        areas.append(area(outputs, evaluation.features.count))
    return torch.cat(areas)


deletion = insertion.variant(
    "deletion",
    label="Deletion",
    higher_is_better=False,
    description="mean probability of the explained class while features are removed, most important first",
    function=partial(insertion, deletes=True),
)
