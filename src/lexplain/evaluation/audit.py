"""Is this explanation honest? The metrics joined into a card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from .. import check
from ..core import Explanation, Trial, as_target
from ..features import Columns
from ..masks import UniformRate
from ..predictors import Target, from_labels, from_model
from ..training import Evaluator, train_evaluator
from .card import Card, Line
from .encoding import MARGIN, encoding, encoding_values, judge
from .predictive import accuracy, auroc
from .selection import empty, kept, mask_only_accuracy, selection_rate
from .statistics import bootstrap
from .truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr

FOLDS = 2


def audit(
    explanation: Explanation,
    X: Any,
    y: Any = None,
    model: Any = None,
    *,
    train: tuple[Any, ...] | None = None,
    truth: Any = None,
    control_flow: int | None = None,
    margin: float = MARGIN,
    device: str = "cpu",
    random_state: int = 0,
) -> Card:
    """Measure an explanation with judges that have not seen the rows they judge, and say whether it is honest.

    Args:
        explanation: of the rows X.
        X: the rows that were explained.
        y: their labels; not needed with a model.
        model: what was explained, if it was a model: its output is then the target.
        train: (X, y) or (X, y, explanation) of other rows, which the judges learn from; with a model y may be None.
            None: half of the given rows are judged by judges that learned from the other half.
        truth: (rows, features) the features that really decide, where they are known.
        control_flow: the feature that only decides which others matter.
        margin: nats of encoding that are let pass.
        device: where the judges train.
        random_state: seed of every draw.
    """
    target = _target(y, model, X, explanation.classes)
    check.audit_fits(explanation, X, target.values)
    features = explanation.features if explanation.features is not None else Columns().fit(X)
    rows = Trial(features.encode(X), as_target(target.values, target.outputs.real))
    fabric = Fabric(accelerator=device, devices=1)
    others = _other_rows(train, model, features, target, explanation.classes) if train is not None else None
    truths = _truth_lines(explanation, truth, control_flow)
    return card_of(explanation, features, target, rows, others, fabric=fabric, seed=random_state, margin=margin, more=truths)


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
    more: Sequence[Line] = (),
) -> Card:
    """The card of an explanation of encoded rows, judged by judges that learn from other rows, with more lines at its end."""
    judged = _Judged(features, target, rows, explanation.mask, others, fabric, seed)
    lines = _predictive_lines(explanation, target, judged) if not target.outputs.real else []
    estimate, verdict = judge(judged.encoding, margin=margin)
    lines.append(Line.of(encoding, estimate))
    lines += [Line.of(metric, bootstrap(metric(explanation.mask))) for metric in (kept, selection_rate, empty)]
    lines += more
    return Card(verdict.word, verdict.encodes, verdict.why, tuple(lines), explanation.method, len(explanation), margin, verdict.p_value)


def _target(y: Any, model: Any, X: Any, classes: tuple[Any, ...] | None) -> Target:
    """What the rows should be explained as; labels in the classes of the explanation, some of which they may lack."""
    if model is not None:
        return from_model(model, X)[0]
    return from_labels(y if classes is None else check.in_classes(y, np.asarray(classes), "the audit"))


def _other_rows(
    train: tuple[Any, ...], model: Any, features: Any, target: Target, classes: tuple[Any, ...] | None
) -> tuple[Trial, Tensor | None]:
    x, y, *rest = (*train, None) if len(train) == 1 else train
    values = check.same_classes(_target(y, model, x, classes), target).values
    mask = rest[0].mask if rest else None
    return Trial(features.encode(x), as_target(values, target.outputs.real)), mask


class _Judged:
    """What judges say of rows that they did not learn from."""

    def __init__(
        self,
        features: Any,
        target: Target,
        rows: Trial,
        mask: Tensor,
        others: tuple[Trial, Tensor | None] | None,
        fabric: Fabric,
        seed: int,
    ) -> None:
        self.features, self.outputs, self.fabric, self.seed = features, target.outputs, fabric, seed
        shape = (len(rows), target.outputs.count)
        self.fair, self.uniform, self.full = (torch.zeros(shape) for _ in range(3))
        self.encoding, self.mask_only = torch.zeros(len(rows), dtype=torch.double), torch.zeros(len(rows), dtype=torch.double)
        folds = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed)).chunk(FOLDS)
        judge = None if others is None else self._evaluator(others[0])
        for fold in range(FOLDS):
            at, rest = folds[fold], torch.cat([other for i, other in enumerate(folds) if i != fold])
            fair = judge or self._evaluator(rows.take(rest))
            if judge is None:
                self._ask(fair, rows, mask, at)
            if others is None or others[1] is None:
                self._compare(fair[0], rows.take(rest), mask[rest], rows, mask, at)
        if judge is not None:
            every = torch.arange(len(rows))
            self._ask(judge, rows, mask, every)
            if others is not None and others[1] is not None:
                self._compare(judge[0], others[0], others[1], rows, mask, every)

    def _evaluator(self, rows: Trial) -> tuple[Evaluator, Evaluator]:
        """Evaluators of fair coins and of masks of every size."""
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(self.seed))
        held = max(5, len(rows) // 10)
        train, validation = rows.take(order[held:]), rows.take(order[:held])
        fair = train_evaluator(self.features, self.outputs, train, validation, fabric=self.fabric, seed=self.seed)
        uniform = train_evaluator(self.features, self.outputs, train, validation, masks=UniformRate, fabric=self.fabric, seed=self.seed)
        return fair, uniform

    def _ask(self, judges: tuple[Evaluator, Evaluator], rows: Trial, mask: Tensor, at: Tensor) -> None:
        x, shown = rows.x[at].to(self.fabric.device), mask[at].to(self.fabric.device)
        self.fair[at] = judges[0].probabilities(x, shown).cpu()
        self.uniform[at] = judges[1].probabilities(x, shown).cpu()
        self.full[at] = judges[1].probabilities(x, torch.ones_like(shown)).cpu()

    def _compare(self, judge: Evaluator, other: Trial, other_mask: Tensor, rows: Trial, mask: Tensor, at: Tensor) -> None:
        self.encoding[at] = encoding_values(judge, other, other_mask, rows.take(at), mask[at], fabric=self.fabric, seed=self.seed)
        if not self.outputs.real:
            labels = (t.target.probs.argmax(1) for t in (other, rows.take(at)))  # type: ignore[attr-defined]  # Categorical
            self.mask_only[at] = mask_only_accuracy(other_mask, next(labels), mask[at], next(labels))


def _predictive_lines(explanation: Explanation, target: Target, judged: _Judged) -> list[Line]:
    labels = target.values.argmax(1)
    lines = []
    if explanation.predict is not None:
        own = explanation.prediction
        lines += [Line.of(accuracy, bootstrap(accuracy(own, labels))), Line.of(auroc, bootstrap(auroc(own, labels)))]
    lines += [
        Line.of(accuracy, bootstrap(accuracy(judged.fair, labels)), "eACC"),
        Line.of(auroc, bootstrap(auroc(judged.fair, labels)), "eAUROC"),
        Line.of(accuracy, bootstrap(accuracy(judged.uniform, labels)), "eACC, uniform rate"),
        Line.of(auroc, bootstrap(auroc(judged.uniform, labels)), "eAUROC, uniform rate"),
        Line.of(accuracy, bootstrap(accuracy(judged.full, labels)), "ACC, all features"),
        Line.of(mask_only_accuracy, bootstrap(judged.mask_only)),
    ]
    return lines


def _truth_lines(explanation: Explanation, truth: Any, control_flow: int | None) -> list[Line]:
    mask, scores = explanation.mask, explanation.scores
    lines = []
    if truth is not None:
        known = torch.as_tensor(truth)
        lines += [Line.of(metric, bootstrap(metric(mask, known))) for metric in (tpr, fpr, fdr)]
        lines.append(Line.of(auroc_against_truth, bootstrap(auroc_against_truth(scores, known))))
        lines.append(Line.of(median_rank, bootstrap(median_rank(scores, known, torch.Generator().manual_seed(0)))))
    if control_flow is not None:
        lines.append(Line.of(cfsr, bootstrap(cfsr(mask, control_flow))))
    return lines
