"""`audit`: measure an explanation and decide whether it is honest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from .. import check
from ..core import Explanation
from ..core.contracts import Features, Labels, Model, RawRows
from ..core.kinds import features_for
from ..core.rows import MAX_ROWS, joined_rows
from ..evaluation import Evaluation, Evaluators, Others, Run
from ..measures import MEASURES, NEEDS, Measure, estimates, find_measures
from ..models import Problem, QueriedModel, as_queried, targets_of
from ..training import fabric_of
from .callables import make_callables
from .card import MARGIN, Card, CardLine, decide_verdict, tradeoff, withdraw_if_off_data
from .class_selection import ClassSelection, every_class

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def audit(
    explanation: Any,
    X: Any,
    y: Any = None,
    model: Any = None,
    *,
    train: tuple[Any, ...] | None = None,
    explainer: Any = None,
    truth: Any = None,
    control_flow: int | None = None,
    keep: float | None = None,
    target: Any = None,
    measures: Collection[str | Measure] | None = None,
    margin: float = MARGIN,
    max_rows: int = MAX_ROWS,
    device: str | Fabric = "auto",
    random_state: int = 0,
) -> Card:
    """Measure an explanation and decide whether it is honest: whether the choice of features reveals almost nothing beyond their values.

    The measures use evaluators: networks that predict the target from some features, on rows that they were not trained on.

    Args:
        explanation: An `Explanation`, or what another tool returned for X (see `as_explanation`).
        X: The explained rows.
        y: Labels of X; not needed with a model.
        model: The explained model; its outputs then replace y.
        train: (X, y) or (X, y, explanation) of other rows, to train the evaluators on; y may be None with a model. None: each half of X is
            evaluated by networks trained on the other half.
        explainer: Object with `explain`, or a function of rows, for measures that need new explanations.
        truth: Ground truth (rows, features). For images also per pixel: a patch is true if half of its pixels are.
        control_flow: Index of the feature that decides which others matter.
        keep: For scores of other tools: number or share of features per row that count as kept.
        target: Explained class, one label or one per row. None: the predicted class.
        measures: Measures to compute in addition to the basic ones, which need no argument: by key ("fs_m"), label ("FS-M") or family
            ("fidelity": several measures); or `Measure` objects. `lexplain.auditing.MEASURES` contains all by key. None: all whose
            arguments you pass, except the slow ones (break-even, retraining, stability and sanity).
        margin: Information, in nats, that an honest choice of features may reveal beyond their values.
        max_rows: Maximum number of rows sent to a model at once.
        device: Device for training the evaluators, as in `Explainer`. "auto": a GPU if there is one.
        random_state: Random seed.
    """
    classes, run = every_class(explanation, y, train), Run(fabric_of(device), random_state, max_rows)
    queried = None if model is None else as_queried(model, max_rows=max_rows)
    targets = targets_of(X, _labels_read(y, model), queried, classes=classes)
    read = targets.target
    outputs = None if queried is None else torch.from_numpy(queried(X)).reshape(len(X), -1).double()
    one_class = ClassSelection(read.classes, keep, model=queried if target is None else None)
    explanation = one_class(explanation, X, target=target, outputs=None if read.outputs.real else read.values)
    _check_lengths(explanation, X, read.values)
    one_class = replace(one_class, label=target if np.ndim(target) == 0 else None)  # other rows can only use one label for all
    if explanation.features is None:  # scores of another tool: the default features of the rows
        features: Features = features_for(X).fit(joined_rows(None if train is None else train[0], X))
    else:
        features = explanation.features
    check.same_features(explanation.mask.shape[1], features.count)
    problem = replace(Problem.read(X, features), targets=targets)
    other = None if train is None else _other_rows(train, queried, problem, one_class)
    fit_to = (X, X, y, model) if train is None else (X, train[0], train[1] if len(train) > 1 else None, model)
    evaluation = Evaluation(
        explanation,
        features,
        problem.batch(),
        read,
        run,
        Evaluators(features, read.outputs, seed=random_state, fabric=run.fabric),
        other,
        truth=None if truth is None else features.feature_truth(truth, len(problem)),
        control_flow=control_flow,
        callables=make_callables(explainer, queried, features, real=read.outputs.real, one_class=one_class, outputs=outputs, refit=fit_to),
    )
    return make_card(evaluation, measures, margin=margin)


def make_card(
    evaluation: Evaluation, measures: Collection[str | Measure] | None = None, *, margin: float = MARGIN, more: Sequence[CardLine] = ()
) -> Card:
    """Compute the measures of an evaluation, and join them with the verdict into a card.

    Args:
        evaluation: Explanation, rows, targets and evaluators.
        measures: Measures by key, label or family, or `Measure` objects, as in `audit`.
        margin: Largest encoding, in nats, that counts as honest.
        more: Lines to add at the end.
    """
    chosen = select_measures(measures, evaluation)
    encoding, verdict = decide_verdict(evaluation.encoding, margin=margin)
    result = estimates(evaluation, chosen) | {"encoding": encoding}  # with the interval of the verdict
    known = [m for m in chosen if m.key in result]
    lines = [CardLine(m.key, m.label, result[m.key], m.higher_is_better, m.description, m.percent, m.group) for m in known]
    card = Card(
        verdict.word,
        verdict.encodes,
        verdict.why,
        (*lines, *more),
        evaluation.explanation.method,
        len(evaluation.explanation),
        margin,
        verdict.p_value,
        tradeoff=tradeoff(evaluation),
        explanation=evaluation.explanation,
    )
    return card if evaluation.explanation.perturbation_based is False else withdraw_if_off_data(card)


def select_measures(requested: Collection[str | Measure] | None, evaluation: Evaluation) -> list[Measure]:
    """The measures of an audit, in the order of `MEASURES`: the standard ones and the requested ones (None: the usual ones).

    Raises if a requested measure needs something that is missing.
    """
    chosen = find_measures(requested or (), MEASURES)
    families = {name for name in requested or () if isinstance(name, str)}
    for measure in chosen:
        lacks = [NEEDS[name].description for name in measure.needs if not NEEDS[name].is_met(evaluation)]
        several = [other for other in chosen if other.family and other.family == measure.family]
        if lacks and not any(other.possible(evaluation) for other in several):
            name = measure.family if measure.family in families else measure.label
            raise ValueError(f"The measure {name!r} needs {lacks[0]}. Pass it to audit, or leave {name!r} out.")
    included = ("always", "usually") if requested is None else ("always",)
    keys = {measure.key for measure in chosen}
    known = [measure for measure in MEASURES.values() if measure.included in included or measure.key in keys]
    return [measure for measure in (*known, *(m for m in chosen if m.key not in MEASURES)) if measure.possible(evaluation)]


def _labels_read(y: Labels, model: Model) -> Labels:
    """The labels to read: None with a model, whose outputs are the target. Raise without labels and model."""
    if model is None and y is None:
        raise ValueError("Pass y (labels of X) or model (the explained model).")
    return None if model is not None else y


def _check_lengths(explanation: Explanation, X: RawRows, target: Tensor) -> None:
    """Raise if the explanation, X and the target differ in length, or have too few rows."""
    if not len(explanation) == len(X) == len(target):
        raise ValueError(
            f"The explanation has {len(explanation)} rows, X {len(X)} and the target {len(target)}. Pass the rows that were explained."
        )
    if len(X) < 2 * check.FEWEST_ROWS:
        raise ValueError(f"Too few rows to audit: got {len(X)}, need at least {2 * check.FEWEST_ROWS}, better a few hundred.")


def _other_rows(train: tuple[RawRows, ...], model: QueriedModel | None, like: Problem, one_class: ClassSelection) -> Others:
    """Rows to train evaluators on, in the classes and units of the explained rows, with masks and scores if they were explained too."""
    x, y, *rest = (*train, None) if len(train) == 1 else train
    problem = Problem.of(x, _labels_read(y, model), model, like=like)
    real = problem.target.outputs.real
    if not rest:
        return Others(problem.batch())
    explanation = one_class(rest[0], x, outputs=None if real else problem.target.values)
    return Others(problem.batch(), lambda: (explanation.scores, explanation.mask))
