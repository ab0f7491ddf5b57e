"""Does the explanation say what the model does?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from ...evaluation import Evaluation, retrain
from ...imputers import Constant, Marginal
from ...metrics.curves import deletion, deletion_curve, insertion, insertion_curve
from ...metrics.fidelity import (
    approximator,
    approximator_accuracy,
    complement_accuracy,
    complement_approximator_accuracy,
    post_hoc_accuracy,
)
from ...metrics.infidelity import hidden_features, infidelity
from ...metrics.metric import Metric
from ...metrics.roar import kar, only_first, retraining_curve, roar, without_first
from ...models import OnEncoded
from ..measure import Measure, of_metric

GROUP = "fidelity"
DRAWS = 200  # perturbations of a row


def _model(evaluation: Evaluation) -> OnEncoded:
    assert evaluation.questions.model is not None  # `needs` says so
    return evaluation.questions.model


def _retrain(evaluation: Evaluation) -> Callable[..., nn.Module]:
    run = evaluation.run
    return partial(
        retrain, features=evaluation.features, outputs=evaluation.outputs, fabric=run.fabric, seed=run.seed, max_rows=run.max_rows
    )


def _by_model(metric: Metric, evaluation: Evaluation) -> Tensor:
    """What the model says from what is kept, or from the rest."""
    rows = evaluation.rows
    return metric(_model(evaluation), evaluation.features, rows.x, evaluation.mask, valid=rows.valid, max_rows=evaluation.run.max_rows)


def _by_fresh_model(metric: Metric, hides: bool, evaluation: Evaluation) -> Tensor:
    """What fresh models say that learn from what is kept, or from the rest."""
    rows, most = evaluation.rows, evaluation.run.max_rows
    found = torch.zeros(len(rows), dtype=torch.double)
    for fold in evaluation.folds:
        fresh = approximator(evaluation.features, _retrain(evaluation), fold.learn, fold.mask ^ hides, max_rows=most)
        judged, mask = rows.take(fold.judged), evaluation.mask[fold.judged]
        said = metric(_model(evaluation), fresh, evaluation.features, judged.x, mask, valid=judged.valid, max_rows=most)
        found[fold.judged] = said.cpu()
    return found


def _by_curve(metric: Metric, curve: Callable[..., Tensor], evaluation: Evaluation) -> Tensor:
    """The area under a curve, with other rows' values where a feature is hidden."""
    fill, target, draws = Marginal(evaluation.background), evaluation.explanation.target_index, evaluation.draws()
    found = []
    for at in torch.split(torch.arange(len(evaluation.rows)), evaluation.run.max_rows):  # curves of all rows would be many
        rows = evaluation.rows.take(at)
        heights = curve(
            _model(evaluation),
            evaluation.features,
            rows.x,
            evaluation.explanation.scores[at],
            valid=rows.valid,
            target=None if target is None else target[at],  # the model's own class unless one was asked for
            imputer=fill,
            max_rows=evaluation.run.max_rows,
            generator=draws,
        )
        found.append(metric(heights, evaluation.features.count))
    return torch.cat(found)


def _infidelity(evaluation: Evaluation) -> Tensor:
    """How far scores are from saying what hiding features does to the model, in the unit that suits the scores best."""
    some, target = evaluation.some, evaluation.explanation.target_index
    rows = evaluation.rows.take(some)
    return infidelity(
        _model(evaluation),
        hidden_features(evaluation.features, Constant(0.0), valid=rows.valid),
        rows.x,
        evaluation.explanation.scores[some],
        target=None if target is None else target[some],
        scaled=True,
        draws=DRAWS,
        max_rows=evaluation.run.max_rows,
        generator=evaluation.draws(),
    )


def _by_retraining(metric: Metric, shown: Callable[[Tensor, Tensor], Tensor], evaluation: Evaluation) -> Tensor:
    """How networks that are retrained without, or with only, the highest scores do beside those of a random ranking."""
    found, draws = torch.zeros(len(evaluation.rows), dtype=torch.double), evaluation.draws()
    for fold in evaluation.folds:
        judged = evaluation.rows.take(fold.judged)
        given = (fold.scores.abs(), evaluation.sizes[fold.judged])
        random = tuple(torch.rand(scores.shape, generator=draws) for scores in given)
        curves = [
            retraining_curve(
                evaluation.features,
                _retrain(evaluation),
                fold.learn,
                train,
                judged,
                test,
                shown=shown,
                max_rows=evaluation.run.max_rows,
                generator=draws,
            )
            for train, test in (given, random)
        ]
        found[fold.judged] = metric(*curves)
    return found


def _usual(key: str, metric: Metric, function: Callable[[Evaluation], Tensor], family: str) -> Measure:
    return of_metric(key, metric, function, needs=("model",), group=GROUP, family=family, taken="usually")


FIDELITY: list[Measure] = [
    _usual("fs_m", post_hoc_accuracy, partial(_by_model, post_hoc_accuracy), "fidelity"),
    _usual("fu_m", complement_accuracy, partial(_by_model, complement_accuracy), "fidelity"),
    _usual("fs_a", approximator_accuracy, partial(_by_fresh_model, approximator_accuracy, False), "fidelity"),
    _usual("fu_a", complement_approximator_accuracy, partial(_by_fresh_model, complement_approximator_accuracy, True), "fidelity"),
    _usual("insertion", insertion, partial(_by_curve, insertion, insertion_curve), "curves"),
    _usual("deletion", deletion, partial(_by_curve, deletion, deletion_curve), "curves"),
    _usual("infidelity", infidelity, _infidelity, "infidelity"),
    of_metric("roar", roar, partial(_by_retraining, roar, without_first), group=GROUP, family="retraining"),
    of_metric("kar", kar, partial(_by_retraining, kar, only_first), group=GROUP, family="retraining"),
]
