"""What judges say of an explanation's rows, none of which they learned from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import torch
from lightning_fabric import Fabric
from torch import Tensor

from ..core import Explanation, Trial
from ..masks import UniformRate
from ..metrics.predictive import accuracy, auprc, auroc
from ..metrics.selection import mask_only_accuracy
from ..metrics.statistics import bootstrap
from ..predictors import Target
from ..training import Evaluator, train_evaluator
from .card import Line
from .encoding_test import encoding_values

FOLDS = 2
SIZES = 30  # points of a trade-off at the most


def folds(rows: int, seed: int) -> tuple[Tensor, ...]:
    """Indices of the rows in parts, each of which is judged by what was learned from the others."""
    return torch.randperm(rows, generator=torch.Generator().manual_seed(seed)).chunk(FOLDS)


class Judged:
    """What judges say of rows that they did not learn from."""

    def __init__(
        self,
        features: Any,
        target: Target,
        rows: Trial,
        explanation: Explanation,
        others: tuple[Trial, Tensor | None] | None,
        fabric: Fabric,
        seed: int,
        max_rows: int,
    ) -> None:
        self.features, self.outputs, self.fabric, self.seed, self.max_rows = features, target.outputs, fabric, seed, max_rows
        shape, mask = (len(rows), target.outputs.count), explanation.mask
        count = features.count
        self.sizes = torch.arange(count + 1) if count <= SIZES else torch.linspace(0, count, SIZES + 1).round().long()
        self.right = torch.zeros(len(self.sizes), len(rows), dtype=torch.bool)  # where the k best features tell the class
        self.scores = explanation.scores
        self.fair, self.uniform, self.full = (torch.zeros(shape) for _ in range(3))
        self.encoding, self.mask_only = torch.zeros(len(rows), dtype=torch.double), torch.zeros(len(rows), dtype=torch.double)
        parts = folds(len(rows), seed)
        judge = None if others is None else self._evaluator(others[0])
        for fold in range(FOLDS):
            at, rest = parts[fold], torch.cat([other for place, other in enumerate(parts) if place != fold])
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
        for part in torch.split(at, self.max_rows):
            self._ask_part(judges, rows, mask, part)

    def _ask_part(self, judges: tuple[Evaluator, Evaluator], rows: Trial, mask: Tensor, at: Tensor) -> None:
        x, shown = rows.x[at].to(self.fabric.device), mask[at].to(self.fabric.device)
        self.fair[at] = judges[0].probabilities(x, shown).cpu()
        self.uniform[at] = judges[1].probabilities(x, shown).cpu()
        self.full[at] = judges[1].probabilities(x, torch.ones_like(shown)).cpu()
        if self.outputs.real:
            return
        labels = rows.target.probs[at].argmax(1)  # type: ignore[attr-defined]  # Categorical
        place = self.scores[at].abs().argsort(dim=1, descending=True, stable=True).argsort(1).to(self.fabric.device)  # (b, d)
        for step, size in enumerate(self.sizes.tolist()):
            self.right[step, at] = accuracy(judges[0].probabilities(x, place < size).cpu(), labels).bool()

    def tradeoff(self) -> pd.DataFrame | None:
        """How often a judge who is shown the k best features by score tells the class."""
        if self.outputs.real:
            return None
        found = [bootstrap(values.double()) for values in self.right]
        return pd.DataFrame(
            {"kept": int(size), "eacc": e.mean, "low": e.low, "high": e.high} for size, e in zip(self.sizes, found, strict=True)
        )

    def _compare(self, judge: Evaluator, other: Trial, other_mask: Tensor, rows: Trial, mask: Tensor, at: Tensor) -> None:
        self.encoding[at] = encoding_values(
            judge, other, other_mask, rows.take(at), mask[at], fabric=self.fabric, seed=self.seed, max_rows=self.max_rows
        )
        if not self.outputs.real:
            labels = (t.target.probs.argmax(1) for t in (other, rows.take(at)))  # type: ignore[attr-defined]  # Categorical
            self.mask_only[at] = mask_only_accuracy(other_mask, next(labels), mask[at], next(labels))


def predictive_lines(explanation: Explanation, target: Target, judged: Judged) -> list[Line]:
    """How well classes are told: by the explanation's own predictor, by the judges, and from all features."""
    labels = target.values.argmax(1)
    lines = []
    if explanation.predict is not None:
        own = explanation.prediction
        lines += [Line.of(metric, bootstrap(metric(own, labels)), group="prediction") for metric in (accuracy, auroc, auprc)]
    said = {"": judged.fair, ", uniform rate": judged.uniform}
    for which, probabilities in said.items():
        plain = [Line.of(metric, bootstrap(metric(probabilities, labels)), group="prediction") for metric in (accuracy, auroc, auprc)]
        by_judge = "by a judge who sees what is kept alone: "
        lines += [replace(line, label=f"e{line.label}{which}", reads=by_judge + line.reads) for line in plain]
    lines.append(Line.of(accuracy, bootstrap(accuracy(judged.full, labels)), "ACC, all features", group="prediction"))
    lines.append(Line.of(mask_only_accuracy, bootstrap(judged.mask_only), group="honesty"))
    return lines
