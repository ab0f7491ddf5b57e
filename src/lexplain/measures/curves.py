"""What a model says as features come or go in the order of their scores."""

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
from .model_calls import QueriedFunction, copied, model_of
from .statistics import positions, scores_of_rows

STEPS = 50  # at most; a model of many features is not asked once for each


def sizes(count: int, steps: int = STEPS) -> Tensor:
    """How many of `count` features have come or gone at each step (steps + 1,), from none to all; no more steps than features."""
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
    """What a model says (steps + 1, b) of the class explained as features are shown, or hidden, the highest score first.

    Args:
        model: encoded rows (n, ...) to probabilities (n, c), or values (n, 1).
        features: feature masks to raw masks.
        x: (b, ...) encoded rows.
        scores: (b, d) of their features; each row's ties come in an order of their own.
        deletes: all features are shown at first, and hidden then.
        valid: (b, d) of bool, False where there is no feature: a row's own number of features is what comes; None: all are there.
        target: (b,) the class explained; None: the predicted one.
        imputer: fills what is not shown; None: with 0, a column's mean. A random one draws anew at each step.
        steps: at most; `sizes` says how many features are shown at each.
        generator: of the order of ties.

    Reference: Petsiuk et al., RISE, 2018, section 4 (insertion and deletion).
    """
    check.counts(steps=steps)
    scores = scores_of_rows(scores, x, features.count)
    place = positions(-scores if deletes else scores, generator, valid)  # in a deletion, the lowest score stays longest
    there = torch.tensor([features.count]) if valid is None else valid.sum(1).cpu()
    steps = min(features.count, steps)
    shown = torch.arange(steps + 1)[:, None] * there // steps  # (steps + 1, b or 1)
    shown = there - shown if deletes else shown
    fill = Constant(0.0).to(x.device) if imputer is None else imputer
    target, _ = model.explained_class(x, target)
    heights = []
    for group in model.groups(len(shown), len(x)):
        mask = place < shown[group.start : group.stop, :, None].to(x.device)  # (steps, b, d)
        exists = None if valid is None else copied(valid, len(group))
        rows, raw = copied(x, len(group)), encoded_mask(features, mask.flatten(0, 1), exists)
        with torch.no_grad():
            filled = model.in_parts(fill, rows, raw)
        heights.append(model.class_outputs(filled, target))
    return torch.cat(heights)


def area(curve: Tensor, count: int) -> Tensor:
    """The mean height (b,) of a curve (steps + 1, b) over the share of `count` features that have come or gone, by trapezoids."""
    at = sizes(count, len(curve) - 1).to(curve.device).double() / count
    return torch.trapezoid(curve.double(), at, dim=0)


@measure(
    "insertion",
    label="Insertion",
    better=True,
    description="mean probability of the explained class as features are shown, the most important first; high finds them soon",
    needs=("model",),
    group="fidelity",
    family="curves",
    included="usually",
)
def insertion(evaluation: Evaluation, *, deletes: bool = False) -> Tensor:
    """The area (b,) under a curve, with other rows' values where a feature is hidden."""
    fill, target, draws = Marginal(evaluation.background), evaluation.explanation.target_index, evaluation.generator()
    found = []
    for at in torch.split(torch.arange(len(evaluation.rows)), evaluation.run.max_rows):  # curves of all rows would be many
        rows = evaluation.rows.take(at)
        heights = curve(
            model_of(evaluation),
            evaluation.features,
            rows.x,
            evaluation.explanation.scores[at],
            deletes=deletes,
            valid=rows.valid,
            target=None if target is None else target[at],  # the model's own class unless one was asked for
            imputer=fill,
            generator=draws,
        )
        found.append(area(heights, evaluation.features.count))
    return torch.cat(found)


deletion = insertion.variant(
    "deletion",
    label="Deletion",
    higher_is_better=False,
    description="mean probability of the explained class as features are hidden, the most important first; low finds them soon",
    function=partial(insertion, deletes=True),
)
