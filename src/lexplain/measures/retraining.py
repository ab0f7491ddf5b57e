"""ROAR and KAR: accuracy after removing (or keeping) the highest scores in training and test rows, and retraining."""

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
from .statistics import check_paired, positions, scores_of_rows

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
    """Accuracy (fractions, b) of models retrained on rows without, or with only, a fraction of the features with the highest scores.

    Hidden features take their columns' training means, in training and test rows. A row's value is 1 if its label is predicted, otherwise
    0; for real values, minus the squared error. Compare with the curve of random scores, and average over seeds of `retrain`, because
    one retraining is noisy.

    Args:
        features: Fitted features.
        retrain: Function that trains a model on rows from scratch. The model maps rows (n, ...) to (n, c).
        train: Training rows.
        train_scores: Scores (n, d) of the training rows. Ties are ordered at random, separately per row.
        test: Test rows, other than the training rows.
        test_scores: Scores (b, d) of the test rows.
        keeps: Whether to keep only the highest scores (keep and retrain, KAR), instead of removing them (remove and retrain, ROAR).
        fractions: Fractions of the features, in ascending order.
        generator: Random generator for the order of ties.

    Reference: Hooker et al., A Benchmark for Interpretability Methods in Deep Neural Networks, 2019, section 3.
    """
    _check_fractions(fractions)
    rows = ((train, train_scores), (test, test_scores))
    ranks = [positions(scores_of_rows(scores, part.x, features.count), generator, part.valid) for part, scores in rows]
    impute = Constant(train.x.mean(0)).to(train.x.device)
    accuracies = []
    for fraction in fractions:
        learn, held_out = (
            impute(part.x, encoded_mask(features, (rank < _count(fraction, rank, part.valid)) == keeps, part.valid))
            for (part, _), rank in zip(rows, ranks, strict=True)
        )
        model = retrain(replace(train, x=learn))
        accuracies.append(_correct(model(held_out), target_values(test.target)))
    return torch.stack(accuracies)


def _check_fractions(fractions: Sequence[float]) -> None:
    rising = all(a < b for a, b in pairwise(fractions))
    if len(fractions) < 2 or not rising or fractions[0] < 0 or fractions[-1] > 1:
        raise ValueError(f"fractions must be at least two ascending numbers from 0 to 1, got {tuple(fractions)}.")


def _count(fraction: float, rank: Tensor, valid: Tensor | None) -> Tensor:
    """Number of features (b or 1, 1) that a fraction of each row's valid features is."""
    total = torch.tensor([[rank.shape[1]]]) if valid is None else valid.sum(1, keepdim=True).cpu()
    return (fraction * total.double() + 0.5).long().to(rank.device)


def _correct(output: Tensor, target: Tensor) -> Tensor:
    """1 for rows with the same most probable class (b, c); for real values (b,), minus the squared error."""
    if target.ndim == 1:
        return -(output[:, 0] - target).square()
    return (output.argmax(1) == target.argmax(1)).double()


def area_between(upper: Tensor, lower: Tensor, fractions: Sequence[float] = FRACTIONS) -> Tensor:
    """Mean difference (b,) of two curves (fractions, b)."""
    _check_fractions(fractions)
    check_paired(upper, lower)
    shares = torch.tensor(fractions, dtype=torch.float64, device=upper.device)
    return torch.trapezoid((upper - lower).double(), shares, dim=0) / (shares[-1] - shares[0])


@measure(
    "roar",
    label="ROAR",
    better=True,
    description="accuracy lost by removing the top features, relative to random features; 0 is no better than random",
    group="fidelity",
    family="retraining",
)
def roar(evaluation: Evaluation, *, keeps: bool = False) -> Tensor:
    """Mean height (b,) of the curve of a random ranking above that of the scores (ROAR), or below it (KAR)."""
    values, generator = torch.zeros(len(evaluation.rows), dtype=torch.double), evaluation.generator()
    curve_of = partial(retraining_curve, evaluation.features, retrain_of(evaluation), keeps=keeps, generator=generator)
    for fold in evaluation.folds:
        eval_rows, sizes = evaluation.rows.take(fold.eval_rows), (fold.scores.abs(), evaluation.importance[fold.eval_rows])
        random = tuple(torch.rand(scores.shape, generator=generator) for scores in sizes)
        curve, chance = (curve_of(fold.learn, train, eval_rows, test) for train, test in (sizes, random))
        values[fold.eval_rows] = area_between(curve, chance) if keeps else area_between(chance, curve)
    return values


kar = roar.variant(
    "kar",
    label="KAR",
    description="accuracy kept by keeping the top features, relative to random features; 0 is no better than random",
    function=partial(roar, keeps=True),
)
