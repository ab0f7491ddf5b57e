"""Is this explanation honest? The measures joined into a card."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from .. import check
from ..core import Explanation
from ..core.contracts import Features, Labels, Model, RawRows
from ..core.kinds import features_for
from ..core.rows import MAX_ROWS, joined_rows
from ..evaluation import Evaluation, Evaluators, Others, Run
from ..measures import MEASURES, NEEDS, Measure, estimates, find_measures
from ..models import Problem, as_function, targets_of
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
    """Measure an explanation with judges that have not seen the rows they judge, and say whether it is honest.

    Args:
        explanation: of the rows X: ours, or what any tool returned (see `as_explanation`): scores or masks, shap's, captum's, LIME's.
        X: the rows that were explained.
        y: their labels; not needed with a model.
        model: what was explained, if it was a model: its output is then the target.
        train: (X, y) or (X, y, explanation) of other rows, which the judges learn from; with a model y may be None.
            None: half of the given rows are judged by judges that learned from the other half.
        explainer: what made the explanation, an object with `explain` or a function of rows, for measures that explain again.
        truth: (rows, features) the features that really decide, where they are known; of images also their pixels, by which a patch is
            true where half of its pixels are (`Patches.truth`).
        control_flow: the feature that only decides which others matter.
        keep: of another tool's scores, how many features of a row count as kept, or what share of them.
        target: the class that is explained, one label for all rows or (rows,) labels. None: of scores of several classes, such as shap's
            (rows, features, classes), those of the class that the model predicts.
        measures: keys, labels or families of `MEASURES`, or measures of your own, beside those that are always taken; None: those that
            what is given allows, but for the slow families: break-even, retraining, stability and sanity.
        margin: nats of encoding that are let pass.
        max_rows: most model rows in flight.
        device: where the judges train, as for `Explainer`: "auto" means a GPU if there is one.
        random_state: seed of every draw.
    """
    classes, run = every_class(explanation, y, train), Run(fabric_of(device), random_state, max_rows)
    targets = targets_of(X, _labels_read(y, model), model, classes=classes, max_rows=max_rows)
    wanted = targets.target
    one_class = ClassSelection(wanted.classes, keep, model=as_function(model) if model is not None and target is None else None)
    explanation = one_class(explanation, X, target=target, answer=None if wanted.outputs.real else wanted.values)
    _refuse_misfit(explanation, X, wanted.values)
    one_class = replace(one_class, label=target if np.ndim(target) == 0 else None)  # of other rows, where all are of one class
    if explanation.features is None:  # another tool's scores are of what suits the rows
        features: Features = features_for(X).fit(joined_rows(None if train is None else train[0], X))
    else:
        features = explanation.features
    check.same_features(explanation.mask.shape[1], features.count)
    problem = replace(Problem.read(X, features), targets=targets)
    other = None if train is None else _other_rows(train, model, problem, one_class, max_rows)
    fit_to = (X, X, y) if train is None else (X, train[0], train[1] if len(train) > 1 else None)
    evaluation = Evaluation(
        explanation,
        features,
        problem.batch(),
        wanted,
        run,
        Evaluators(features, wanted.outputs, seed=random_state, fabric=run.fabric),
        other,
        truth=None if truth is None else features.feature_truth(truth, len(problem)),
        control_flow=control_flow,
        callables=make_callables(explainer, model, features, real=wanted.outputs.real, one_class=one_class, refit=fit_to),
    )
    return make_card(evaluation, measures, margin=margin)


def make_card(
    evaluation: Evaluation, measures: Collection[str | Measure] | None = None, *, margin: float = MARGIN, more: Sequence[CardLine] = ()
) -> Card:
    """The card of all that is known of an explanation, with more lines at its end.

    Args:
        evaluation: what is known.
        measures: as for `audit`.
        margin: nats of encoding that are let pass.
        more: lines that somebody else measured.
    """
    chosen = select_measures(measures, evaluation)
    encoding, verdict = decide_verdict(evaluation.encoding, margin=margin)
    found = estimates(evaluation, chosen) | {"encoding": encoding}  # with the interval of the verdict
    known = [m for m in chosen if m.key in found]
    lines = [CardLine(m.key, m.label, found[m.key], m.higher_is_better, m.description, m.percent, m.group) for m in known]
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


def select_measures(asked: Collection[str | Measure] | None, evaluation: Evaluation) -> list[Measure]:
    """The measures of an audit, in the order of the menu: those always taken, and those asked for, else the usual ones.

    A measure that is asked for and lacks what it needs is refused.
    """
    wanted = find_measures(asked or (), MEASURES)
    families = {name for name in asked or () if isinstance(name, str)}
    for measure in wanted:
        lacks = [NEEDS[name].description for name in measure.needs if not NEEDS[name].is_met(evaluation)]
        several = [other for other in wanted if other.family and other.family == measure.family]
        if lacks and not any(other.possible(evaluation) for other in several):
            name = measure.family if measure.family in families else measure.label
            raise ValueError(f"the measure {name!r} needs {lacks[0]}, which was not given; pass it to audit, or leave {name!r} out")
    taken = ("always", "usually") if asked is None else ("always",)
    keys = {measure.key for measure in wanted}
    known = [measure for measure in MEASURES.values() if measure.included in taken or measure.key in keys]
    return [measure for measure in (*known, *(m for m in wanted if m.key not in MEASURES)) if measure.possible(evaluation)]


def _labels_read(y: Labels, model: Model) -> Labels:
    """Return the labels to read: none with a model, whose answer is the target; refuse where neither is given."""
    if model is None and y is None:
        raise ValueError("the audit was given neither labels nor a model; pass y, the labels of X, or the model that was explained")
    return None if model is not None else y


def _refuse_misfit(explanation: Explanation, X: RawRows, target: Tensor) -> None:
    """Refuse rows that are not those of the explanation."""
    if not len(explanation) == len(X) == len(target):
        raise ValueError(
            f"the explanation has {len(explanation)} rows, X {len(X)} and the target {len(target)}; give the rows that were explained"
        )
    if len(X) < 2 * check.FEWEST_ROWS:
        raise ValueError(f"{len(X)} rows are too few to audit: at least {2 * check.FEWEST_ROWS} are needed, and a few hundred to tell much")


def _other_rows(train: tuple[RawRows, ...], model: Model, like: Problem, one_class: ClassSelection, max_rows: int) -> Others:
    """Rows to learn from, in the classes and units of those judged, with their masks and scores where they were explained too."""
    x, y, *rest = (*train, None) if len(train) == 1 else train
    problem = Problem.of(x, _labels_read(y, model), model, like=like, max_rows=max_rows)
    real = problem.target.outputs.real
    if not rest:
        return Others(problem.batch())
    theirs = one_class(rest[0], x, answer=None if real else problem.target.values)
    return Others(problem.batch(), lambda: (theirs.scores, theirs.mask))
