"""Is this explanation honest? The metrics joined into a card."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from sklearn.base import clone
from torch import Tensor, nn

from .. import check
from ..core import Explanation, Trial, as_target, seeded
from ..features import features_for
from ..metrics.encoding import encoding
from ..metrics.model_calls import MAX_ROWS
from ..metrics.sanity import permuted
from ..metrics.selection import empty, kept, selection_rate
from ..metrics.statistics import bootstrap
from ..metrics.truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr
from ..predictors import Target, as_function
from ..training import fabric_of, reinitialised
from .card import Card, Line
from .encoding_test import MARGIN, judge
from .inputs import OneClass, every_class, every_row, other_rows, target_of
from .judgement import FOLDS, Judged, folds, predictive_lines
from .measures import MEASURES, Case, Split

TOLD_APART = 0.75  # a classifier that does better than this tells filled rows from real ones
CONTRADICTED = 0.1  # share of rows on which a model, asked off the data, may say something else than kept features tell


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
    measures: Collection[str] | None = None,
    margin: float = MARGIN,
    max_rows: int = MAX_ROWS,
    device: str | Fabric = "cpu",
    random_state: int = 0,
) -> Card:
    """Measure an explanation with judges that have not seen the rows they judge, and say whether it is honest.

    Args:
        explanation: of the rows X: ours, or what any tool returned (see `adopt`): scores or masks, shap's, captum's, LIME's.
        X: the rows that were explained.
        y: their labels; not needed with a model.
        model: what was explained, if it was a model: its output is then the target.
        train: (X, y) or (X, y, explanation) of other rows, which the judges learn from; with a model y may be None.
            None: half of the given rows are judged by judges that learned from the other half.
        explainer: what made the explanation, an object with `explain` or a function of rows, for measures that explain again.
        truth: (rows, features) the features that really decide, where they are known; of images also their pixels, by which a patch is
            true where half of its pixels are (`Patches.carried`).
        control_flow: the feature that only decides which others matter.
        keep: of another tool's scores, how many features of a row count as kept, or what share of them.
        target: the class that is explained, one label for all rows or (rows,) labels. None: of scores of several classes, such as shap's
            (rows, features, classes), those of the class that the model predicts.
        measures: names from `MEASURES`; None: those that what is given allows, but for the slow ones: break-even,
            retraining, stability and sanity.
        margin: nats of encoding that are let pass.
        max_rows: most model rows in flight.
        device: where the judges train, as for `Explainer`.
        random_state: seed of every draw.
    """
    classes = every_class(explanation, y, train)
    wanted = target_of(y, model, X, classes, max_rows=max_rows)
    one_class = OneClass(wanted.classes, keep, says=as_function(model) if model is not None and target is None else None)
    explanation = one_class(explanation, X, target=target, said=None if wanted.outputs.real else wanted.values)
    check.audit_fits(explanation, X, wanted.values)
    one_class = replace(one_class, label=target if np.ndim(target) == 0 else None)  # of other rows, where all are of one class
    features = explanation.features if explanation.features is not None else features_for(X).fit(every_row(X, train))
    check.same_features(explanation.mask.shape[1], features.count)
    rows = Trial(features.encode(X), as_target(wanted.values, wanted.outputs.real))
    fabric = fabric_of(device)
    others = None if train is None else other_rows(train, model, features, wanted, classes, one_class, max_rows=max_rows)
    refit, apart = _refits(explainer, X, y, model, train), folds(len(rows), random_state)
    case = Case(
        explanation=explanation,
        features=features,
        target=wanted,
        rows=rows,
        splits=_splits(rows, explanation, others, random_state),
        background=rows.x[apart[0]] if others is None else others[0].x,
        apart=torch.cat(apart[1:]) if others is None else torch.arange(len(rows)),
        model=None if model is None or wanted.outputs.real else _on_encoded(model, features),
        explain=None if explainer is None else _explains(explainer, features, one_class),
        says=_says(model, explainer, features, wanted.outputs.real),
        fit_seconds=getattr(explainer, "fit_seconds_", getattr(explainer, "seconds_", None)),
        refit=refit,
        randomised=() if refit is None else _randomised(y if train is None else train[1] if len(train) > 1 else None, model),
        fabric=fabric,
        seed=random_state,
        max_rows=max_rows,
    )
    lines = _truth_lines(explanation, truth, control_flow)
    for name in check.measures_there(measures, {name: (part, usual) for name, (_, part, usual) in MEASURES.items()}, case):
        with seeded(random_state):  # imputers draw from torch's own state
            lines += MEASURES[name][0](case)
    pair = None if others is None else (others[0], others[1])
    settings: dict[str, Any] = {"fabric": fabric, "seed": random_state, "margin": margin, "max_rows": max_rows}
    card = card_of(explanation, features, wanted, rows, pair, more=lines, **settings)
    return _off_the_data(card) if explanation.predict is None else card


def card_of(
    explanation: Explanation,
    features: Any,
    target: Target,
    rows: Trial,
    others: tuple[Trial, Tensor | None] | None,
    *,
    fabric: Fabric,
    seed: int,
    margin: float = MARGIN,
    max_rows: int = MAX_ROWS,
    more: Sequence[Line] = (),
) -> Card:
    """The card of an explanation of encoded rows, judged by judges that learn from other rows, with more lines at its end."""
    judged = Judged(features, target, rows, explanation, others, fabric, seed, max_rows)
    lines = predictive_lines(explanation, target, judged) if not target.outputs.real else []
    estimate, verdict = judge(judged.encoding, margin=margin)
    lines.append(Line.of(encoding, estimate, group="honesty"))
    lines += [Line.of(metric, bootstrap(metric(explanation.mask)), group="selection") for metric in (kept, selection_rate, empty)]
    lines += more
    return Card(
        verdict.word,
        verdict.encodes,
        verdict.why,
        tuple(lines),
        explanation.method,
        len(explanation),
        margin,
        verdict.p_value,
        tradeoff=judged.tradeoff(),
        explanation=explanation,
    )


def _off_the_data(card: Card) -> Card:
    """Withdraw a verdict of honesty where the model, shown kept features alone, contradicts what they tell of real rows."""
    known = {line.label: line.estimate for line in card.lines}
    if card.verdict != "honest" or not {"FS-M", "eACC", "Off the data, mean"} <= set(known):
        return card
    shown, told, apart = known["FS-M"], known["eACC"], known["Off the data, mean"]
    if apart.low <= TOLD_APART or shown.high + CONTRADICTED >= told.low:
        return card
    why = (
        f"the kept features tell the model's answer on {told.mean:.0%} of the rows, but the model itself, shown them alone, says something "
        f"else on {1 - shown.mean:.0%}: rows with features taken out are unlike the data (told apart with AUROC {apart.mean:.2f}), so that "
        "an explanation made by taking features out of this model describes it where it was never used"
    )
    return replace(card, verdict="off the data", why=why)


def _splits(
    rows: Trial, explanation: Explanation, others: tuple[Trial, Tensor | None, Tensor | None] | None, seed: int
) -> tuple[Split, ...]:
    """What may be learned from, for each part of the rows: other rows with explanations of their own, else the other folds."""
    if others is not None and others[1] is not None and others[2] is not None:
        return (Split(others[0], others[1], others[2], torch.arange(len(rows))),)
    parts = folds(len(rows), seed)
    rest = [torch.cat([other for place, other in enumerate(parts) if place != part]) for part in range(FOLDS)]
    return tuple(
        Split(rows.take(learn), explanation.mask[learn], explanation.scores[learn], at) for learn, at in zip(rest, parts, strict=True)
    )


def _on_encoded(model: Any, features: Any) -> Callable[[Tensor], Tensor]:
    """A model of raw rows as a function of encoded ones."""
    ask = as_function(model)

    def says(x: Tensor) -> Tensor:
        answer = ask(features.decode(x.cpu()))
        values = answer if isinstance(answer, Tensor) else torch.as_tensor(np.asarray(answer))
        return values.reshape(len(x), -1).to(x.device)

    return says


def _says(model: Any, explainer: Any, features: Any, real: bool) -> Callable[[Tensor], Tensor] | None:
    """What is explained, as a function of encoded rows: the model, else what the explainer itself predicts."""
    asked = model if model is not None else getattr(explainer, "predict" if real else "predict_proba", None)
    return None if asked is None else _on_encoded(asked, features)


def _explains(explainer: Any, features: Any, one_class: OneClass) -> Callable[[Tensor], Tensor]:
    """An explainer of raw rows as a function of encoded ones to scores."""
    ask = getattr(explainer, "explain", explainer)

    def scores(x: Tensor) -> Tensor:
        rows = features.decode(x.cpu())
        said = ask(rows)
        truths = str(getattr(said, "dtype", "")).removeprefix("torch.") == "bool"  # a mask says itself what is kept
        return replace(one_class, keep=None if truths else one_class.keep or 1)(said, rows).scores.to(x.device)

    return scores


def _refits(explainer: Any, X: Any, y: Any, model: Any, train: tuple[Any, ...] | None) -> Callable[[int, str], Explanation] | None:
    """A function that fits the explainer anew, with another seed or to something random, and explains the same rows."""
    if not hasattr(explainer, "fit"):
        return None
    rows, labels = (X, y) if train is None else (train[0], train[1] if len(train) > 1 else None)

    def again(seed: int, what: str) -> Explanation:
        fresh = clone(explainer).set_params(random_state=seed)
        if model is not None:
            fresh.fit(rows, model=reinitialised(model, seed=seed) if what == "model" else model)
        else:
            given = check.as_array(labels)
            shuffled = permuted(torch.arange(len(given)), generator=torch.Generator().manual_seed(seed)).numpy()
            fresh.fit(rows, given[shuffled] if what == "labels" else given)
        explained: Explanation = fresh.explain(X)
        return explained

    return again


def _randomised(labels: Any, model: Any) -> tuple[str, ...]:
    """What can be replaced by chance: a network's weights, or labels."""
    return ("model",) if isinstance(model, nn.Module) else ("labels",) if model is None and labels is not None else ()


def _truth_lines(explanation: Explanation, truth: Any, control_flow: int | None) -> list[Line]:
    mask, scores = explanation.mask, explanation.scores.abs()  # other tools' speak for and against
    lines = []
    if truth is not None:
        known = check.truth_of(truth, *mask.shape, features=explanation.features)
        lines += [Line.of(metric, bootstrap(metric(mask, known)), group="truth") for metric in (tpr, fpr, fdr)]
        lines.append(Line.of(auroc_against_truth, bootstrap(auroc_against_truth(scores, known)), group="truth"))
        lines.append(Line.of(median_rank, bootstrap(median_rank(scores, known, torch.Generator().manual_seed(0))), group="truth"))
    if control_flow is not None:
        lines.append(Line.of(cfsr, bootstrap(cfsr(mask, control_flow)), group="truth"))
    return lines
