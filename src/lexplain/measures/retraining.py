"""Remove (or keep) what scores call important, in training and test rows alike, and retrain: does accuracy follow?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import torch
from torch import Generator, Tensor

from ..core import Trial, target_values
from ..core.contracts import Features
from ..evaluation import Evaluation
from ..features import raw_mask
from ..imputers import Constant
from .measure import measure
from .model_calls import Retrain, retrain_of
from .statistics import positions, refuse_unpaired, scores_of_rows

TAKEN = {"group": "fidelity", "family": "retraining"}
FRACTIONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


def without_first(place: Tensor, count: Tensor | int) -> Tensor:
    """Masks that hide the first features by their places: remove and retrain (ROAR)."""
    return place >= torch.as_tensor(count, device=place.device)


def only_first(place: Tensor, count: Tensor | int) -> Tensor:
    """Masks that show the first features by their places alone: keep and retrain (KAR)."""
    return place < torch.as_tensor(count, device=place.device)


def retraining_curve(
    features: Features,
    retrain: Retrain,
    train: Trial,
    train_scores: Tensor,
    test: Trial,
    test_scores: Tensor,
    *,
    shown: Callable[[Tensor, Tensor], Tensor] = without_first,
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
        shown: `without_first` for ROAR, `only_first` for KAR.
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
            fill(part.x, raw_mask(features, shown(place, _count(fraction, features.count, part.valid)), part.valid))
            for (part, _), place in zip(rows, places, strict=True)
        )
        model = retrain(replace(train, x=learn))
        heights.append(_right(model(judged), target_values(test.target)))
    return torch.stack(heights)


def _refuse_other_than_shares(fractions: Sequence[float]) -> None:
    rising = all(a < b for a, b in pairwise(fractions))
    if len(fractions) < 2 or not rising or fractions[0] < 0 or fractions[-1] > 1:
        raise ValueError(f"fractions={tuple(fractions)}, but at least two that rise from 0 or more to 1 or less are needed")


def _count(fraction: float, count: int, valid: Tensor | None) -> Tensor:
    """How many features (b or 1, 1) a fraction of each row's own is."""
    there = torch.tensor([[count]]) if valid is None else valid.sum(1, keepdim=True).cpu()
    return (fraction * there.double() + 0.5).long()


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


def _beside_random(shown: Callable[[Tensor, Tensor], Tensor], area: Callable[[Tensor, Tensor], Tensor], evaluation: Evaluation) -> Tensor:
    """An area (b,) between the curves of the scores and of a random ranking."""
    found, draws = torch.zeros(len(evaluation.rows), dtype=torch.double), evaluation.draws()
    for fold in evaluation.folds:
        judged = evaluation.rows.take(fold.judged)
        given = (fold.scores.abs(), evaluation.sizes[fold.judged])
        random = tuple(torch.rand(scores.shape, generator=draws) for scores in given)
        settings = (evaluation.features, retrain_of(evaluation), fold.learn)
        curves = [retraining_curve(*settings, train, judged, test, shown=shown, generator=draws) for train, test in (given, random)]
        found[fold.judged] = area(*curves)
    return found


@measure(
    "roar",
    label="ROAR",
    better=True,
    description="accuracy that removing the highest scores costs beyond removing as many at random; 0 is no better than random",
    **TAKEN,
)
def roar(evaluation: Evaluation) -> Tensor:
    """The mean height (b,) by which a random ranking's curve lies above that of scores, both `without_first`."""
    return _beside_random(without_first, lambda curve, random: area_between(random, curve), evaluation)


@measure(
    "kar",
    label="KAR",
    better=True,
    description="accuracy that keeping the highest scores saves beyond keeping as many at random; 0 is no better than random",
    **TAKEN,
)
def kar(evaluation: Evaluation) -> Tensor:
    """The mean height (b,) by which the curve of scores lies above a random ranking's, both with `only_first`."""
    return _beside_random(only_first, area_between, evaluation)
