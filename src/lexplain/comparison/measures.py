"""The menu of metrics, and what they are given: everything that is known of explained test rows, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from ..auditing import encoding_values
from ..baselines import Baseline
from ..core import Explanation, Trial
from ..metrics import (
    Metric,
    accuracy,
    auprc,
    auroc,
    auroc_against_truth,
    cfsr,
    empty,
    encoding,
    fdr,
    fpr,
    kept,
    log_likelihood,
    mask_only_accuracy,
    median_rank,
    selection_rate,
    tpr,
)
from ..training import Evaluator
from .scene import Scene, rows_at

ENOUGH = 1000  # training rows whose masks must be known, or all: from fewer a reader of masks learns too little to find encoding
OFFERED = ("mask", "scores", "labels", "probabilities", "truth", "column", "train_mask", "train_labels", "generator")


@dataclass(frozen=True)
class Measure:
    """A metric in a table: what it is called there, and whose probabilities it reads."""

    label: str
    metric: Metric
    judged: bool = False  # probabilities are the judge's, shown what is kept; else the explainer's own

    @property
    def asks_judge(self) -> bool:
        """Whether a judge must have been trained."""
        return self.judged or self.metric is encoding


MEASURES: dict[str, Measure] = {  # the menu of compare and the command line
    measure.label: measure
    for measure in (
        Measure("ACC", accuracy),
        Measure("AUROC", auroc),
        Measure("AUPRC", auprc),
        Measure("log-likelihood", log_likelihood),
        Measure("eACC", accuracy, judged=True),
        Measure("eAUROC", auroc, judged=True),
        Measure("eAUPRC", auprc, judged=True),
        Measure("e-log-likelihood", log_likelihood, judged=True),
        Measure("encoding", encoding),
        Measure("mask-only ACC", mask_only_accuracy),
        Measure("kept", kept),
        Measure("selection rate", selection_rate),
        Measure("empty", empty),
        Measure("TPR", tpr),
        Measure("FPR", fpr),
        Measure("FDR", fdr),
        Measure("CFSR", cfsr),
        Measure("truth AUROC", auroc_against_truth),
        Measure("median rank", median_rank),
    )
}
DEFAULT = ("ACC", "eACC", "eAUROC", "eAUPRC", "encoding", "kept", "TPR", "FDR", "CFSR", "median rank")


def needed(metric: Metric) -> list[str]:
    """The names of what a metric cannot do without."""
    return [name for name, each in signature(metric.function).parameters.items() if each.default is Parameter.empty]


class Evidence:
    """What is known of the test rows that an explainer explained; what is costly is found when a metric asks for it.

    Args:
        scene: where they come from.
        folder: where judges are kept.
        explainer: fitted.
        explanation: of some test rows.
        at: (b,) which.
        train_rows: how many training rows the explainer may be asked for; 0: none.
    """

    def __init__(self, scene: Scene, folder: Path, explainer: Any, explanation: Explanation, at: np.ndarray, *, train_rows: int) -> None:
        self.scene, self.folder, self.explainer, self.explanation = scene, folder, explainer, explanation
        self.at = torch.from_numpy(at)
        self.learned = np.sort(np.random.default_rng(scene.seed).permutation(len(scene.data.train))[:train_rows])

    def values(self, measure: Measure) -> Tensor | None:
        """One number an instance (b,), or None where the metric asks for what nobody knows."""
        if measure.metric is encoding:
            return self._encoding
        given = self._given(measure)
        wanted = signature(measure.metric.function).parameters
        if any(given.get(name) is None for name in needed(measure.metric)):
            return None
        found = measure.metric(**{name: given[name] for name in wanted if given.get(name) is not None})
        return found.double().cpu()

    def _given(self, measure: Measure) -> Mapping[str, Any]:
        names = signature(measure.metric.function).parameters
        given: dict[str, Any] = {name: getattr(self, f"_{name}") for name in names if name in OFFERED}
        if measure.judged:
            given["probabilities"] = self._judged
        return given

    # ---- what is offered ----

    @property
    def _mask(self) -> Tensor:
        return self.explanation.mask

    @property
    def _scores(self) -> Tensor:
        scores = self.explanation.scores
        return scores.abs() if isinstance(self.explainer, Baseline) else scores  # as their masks rank them: against is as telling as for

    @cached_property
    def _rows(self) -> Trial:
        return self.scene.trial(self.scene.data.test).take(self.at)

    @cached_property
    def _train(self) -> Trial:
        return self.scene.trial(self.scene.data.train).take(torch.from_numpy(self.learned))

    @cached_property
    def _labels(self) -> Tensor | None:
        return self._classes(self._rows)

    @property
    def _train_labels(self) -> Tensor | None:
        return self._classes(self._train)

    def _classes(self, rows: Trial) -> Tensor | None:
        return None if self.scene.outputs.real else rows.target.probs.argmax(1)  # type: ignore[attr-defined]  # Categorical

    @property
    def _probabilities(self) -> Tensor | None:
        return None if self.explanation.predict is None or self.scene.outputs.real else self.explanation.prediction

    @cached_property
    def _judge(self) -> Evaluator:
        return self.scene.judge(self.folder)

    @cached_property
    def _judged(self) -> Tensor | None:
        return None if self.scene.outputs.real else self._judge.probabilities(self._rows.x, self._mask)

    @property
    def _truth(self) -> Tensor | None:
        truth = self.scene.data.test.truth
        return None if truth is None else torch.as_tensor(truth)[self.at]

    @property
    def _column(self) -> int | None:
        return self.scene.data.control_flow

    @property
    def _generator(self) -> Generator:
        return Generator().manual_seed(self.scene.seed)

    @cached_property
    def _train_mask(self) -> Tensor | None:
        if not len(self.learned):
            return None
        mask: Tensor = self.explainer.explain(rows_at(self.scene.data.train.x, self.learned)).mask
        return mask

    @cached_property
    def _encoding(self) -> Tensor | None:
        if self._train_mask is None:
            return None
        return encoding_values(self._judge, self._train, self._train_mask, self._rows, self._mask, seed=self.scene.seed)
