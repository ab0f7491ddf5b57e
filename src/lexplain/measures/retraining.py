"""Remove (or keep) what scores call important, in training and test rows alike, and retrain: does accuracy follow?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import torch
from torch import Generator, Tensor

from ..core import Batch, target_values
from ..core.contracts import Features
from ..evaluation import Evaluation
from ..features import encoded_mask
from ..imputers import Constant
from .measure import measure
from .model_calls import Retrain, retrain_of
from .statistics import positions, refuse_unpaired, scores_of_rows

FRACTIONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


def retraining_curve(
    features: Features,
    retrain: Retrain,
    train: Batch,
    train_scores: Tensor,
    test: Batch,
    test_scores: Tensor,
    *,
    keeps: bool = False,
    fractions: Sequence[float] = FRACTIONS,
    generator: Generator | None = None,
) -> Tensor:
    """How right models are (fractions, b) that are retrained on rows without, or with only, a fraction of the highest scores.

    Where a feature is hidden, its columns' training means stand in train and test rows. A row counts 1 where its label is named and
    0 elsewhere; for a real value, minus the squared error. Take random scores for the curve to compare with, and average over seeds
    of `retrain`: one retraining is noisy.

    Args:
        features: feature masks to raw masks.
        retrain: rows to a model of rows (n, ...) to (n, c), from scratch.
        train: rows to learn from.
        train_scores: (n, d) of their features; each row's ties come in an order of their own.
        test: rows to judge, other than those.
        test_scores: (b, d)
        keeps: only the highest scores are shown (keep and retrain, KAR), not all others (remove and retrain, ROAR).
        fractions: of the features, rising.
        generator: of the order of ties.

    Reference: Hooker et al., A Benchmark for Interpretability Methods in Deep Neural Networks, 2019, section 3.
    """
    _refuse_other_than_shares(fractions)
    rows = ((train, train_scores), (test, test_scores))
    places = [positions(scores_of_rows(scores, part.x, features.count), generator, part.valid) for part, scores in rows]
    fill = Constant(train.x.mean(0)).to(train.x.device)
    heights = []
    for fraction in fractions:
        learn, judged = (
            fill(part.x, encoded_mask(features, (place < _count(fraction, place, part.valid)) == keeps, part.valid))
            for (part, _), place in zip(rows, places, strict=True)
        )
        model = retrain(replace(train, x=learn))
        heights.append(_right(model(judged), target_values(test.target)))
    return torch.stack(heights)


def _refuse_other_than_shares(fractions: Sequence[float]) -> None:
    rising = all(a < b for a, b in pairwise(fractions))
    if len(fractions) < 2 or not rising or fractions[0] < 0 or fractions[-1] > 1:
        raise ValueError(f"fractions={tuple(fractions)}, but at least two that rise from 0 or more to 1 or less are needed")


def _count(fraction: float, place: Tensor, valid: Tensor | None) -> Tensor:
    """How many features (b or 1, 1) a fraction of each row's own is."""
    there = torch.tensor([[place.shape[1]]]) if valid is None else valid.sum(1, keepdim=True).cpu()
    return (fraction * there.double() + 0.5).long().to(place.device)


def _right(said: Tensor, wanted: Tensor) -> Tensor:
    """1 where the likeliest classes (b, c) are the same; for real values (b,), minus the squared error."""
    if wanted.ndim == 1:
        return -(said[:, 0] - wanted).square()
    return (said.argmax(1) == wanted.argmax(1)).double()


def area_between(upper: Tensor, lower: Tensor, fractions: Sequence[float] = FRACTIONS) -> Tensor:
    """The mean height (b,) by which one curve (fractions, b) lies above another."""
    _refuse_other_than_shares(fractions)
    refuse_unpaired(upper, lower)
    at = torch.tensor(fractions, dtype=torch.float64, device=upper.device)
    return torch.trapezoid((upper - lower).double(), at, dim=0) / (at[-1] - at[0])


@measure(
    "roar",
    label="ROAR",
    better=True,
    description="accuracy that removing the highest scores costs beyond removing as many at random; 0 is no better than random",
    group="fidelity",
    family="retraining",
)
def roar(evaluation: Evaluation, *, keeps: bool = False) -> Tensor:
    """How far (b,) the curve of a random ranking lies above that of the scores (ROAR), or below it where these are kept (KAR)."""
    found, draws = torch.zeros(len(evaluation.rows), dtype=torch.double), evaluation.generator()
    measured = partial(retraining_curve, evaluation.features, retrain_of(evaluation), keeps=keeps, generator=draws)
    for fold in evaluation.folds:
        judged, sizes = evaluation.rows.take(fold.eval_rows), (fold.scores.abs(), evaluation.importance[fold.eval_rows])
        random = tuple(torch.rand(scores.shape, generator=draws) for scores in sizes)
        curve, chance = (measured(fold.learn, train, judged, test) for train, test in (sizes, random))
        found[fold.eval_rows] = area_between(curve, chance) if keeps else area_between(chance, curve)
    return found


kar = roar.variant(
    "kar",
    label="KAR",
    description="accuracy that keeping the highest scores saves beyond keeping as many at random; 0 is no better than random",
    function=partial(roar, keeps=True),
)
