"""An explanation with its rows, evaluators and callables. Costly results are computed on first access."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from ..core import Batch, Explanation, Outputs
from ..core.contracts import Features
from ..core.rows import MAX_ROWS
from ..core.splits import halves
from ..masks import FixedRate, RandomMasks, UniformRate
from ..models import EncodedFunction, Target
from .encoding_test import encoding_values
from .evaluator import Evaluator, Evaluators

if TYPE_CHECKING:
    from lightning_fabric import Fabric

SUBSAMPLE_ROWS = 500  # rows for measures that query the model or the explainer hundreds of times per row
REFITS = 2  # additional fits with other seeds


@dataclass(frozen=True)
class Run:
    """Device, seed and memory limit of an evaluation. Evaluators have their own seed."""

    fabric: Fabric
    seed: int  # seed of readers, folds and measures
    max_rows: int = MAX_ROWS  # maximum number of rows sent to a network at once


@dataclass(frozen=True)
class Others:
    """Other rows, on which evaluators are trained but not applied."""

    rows: Batch
    explain: Callable[[], tuple[Tensor, Tensor]] | None = None  # returns their scores and masks (n, d); called once; None: not explained


@dataclass(frozen=True)
class Callables:
    """Functions that measures may call: the model, the explainer, and new fits of it."""

    model: EncodedFunction | None = None  # class probabilities of the explained model
    outputs: Tensor | None = None  # its outputs (b, c) for the explained rows, if they are known
    explain: EncodedFunction | None = None  # the explainer's scores (n, d)
    predict: EncodedFunction | None = None  # what is explained: the model's outputs, otherwise the explainer's
    fit_seconds: float | None = None  # duration of the explainer's fit, if known
    refit: Callable[[int, str], Explanation] | None = None  # explains again; takes a seed and what to randomise ("", "model", "labels")
    randomised: tuple[str, ...] = ()  # what `refit` can randomise


class Fold(NamedTuple):
    """Training rows with their explanations, and the indices of the rows to evaluate."""

    learn: Batch
    mask: Tensor  # (n, d) masks of the training rows
    scores: Tensor  # (n, d)
    eval_rows: Tensor  # indices into the explained rows


@dataclass(frozen=True)
class Evaluation:
    """Everything that measures may read."""

    explanation: Explanation
    features: Features
    rows: Batch  # the explained rows, encoded, with their targets
    target: Target
    run: Run
    evaluators: Evaluators
    others: Others | None = None  # None: each half of the rows is evaluated by networks trained on the other half
    has_enough_masks: bool = True  # whether enough rows were explained to train a mask reader
    truth: Tensor | None = None  # (b, d) of bool: the features that determine the label
    control_flow: int | None = None  # index of the control-flow feature
    callables: Callables = field(default_factory=Callables)

    # ---- arguments ----

    @property
    def mask(self) -> Tensor:
        """The mask (b, d) of kept features."""
        return self.explanation.mask

    @property
    def valid(self) -> Tensor | None:
        """Mask (b, d) of bool, False for padding."""
        return self.rows.valid

    @property
    def importance(self) -> Tensor:
        """Absolute scores (b, d). Scores of other tools can be negative."""
        return self.explanation.scores.abs()

    @property
    def outputs(self) -> Outputs:
        """Type of the predictions."""
        return self.target.outputs

    @cached_property
    def labels(self) -> Tensor:
        """Class indices (b,) of the target."""
        return self.target.values.argmax(1)

    # ---- predictions from the kept features ----

    @property
    def own_prediction(self) -> Tensor:
        """Predictions (b, c) of the explanation's own predictor from the kept features."""
        return self.explanation.kept_prediction

    @cached_property
    def evaluator_prediction(self) -> Tensor:
        """Predictions (b, c) of EVAL-X from the kept features."""
        return self._predicted(FixedRate)

    @cached_property
    def uniform_rate_prediction(self) -> Tensor:
        """Predictions (b, c) from the kept features, by an evaluator trained on masks of all sizes."""
        return self._predicted(UniformRate)

    @cached_property
    def full_prediction(self) -> Tensor:
        """Predictions (b, c) of the same evaluator from all features."""
        return self.predict_all(UniformRate)

    def predict_all(self, masks: RandomMasks) -> Tensor:
        """Predictions (b, c) from all features, by an evaluator trained on the given masks."""
        return self._predicted(masks, everything=True)

    def _predicted(self, masks: RandomMasks, *, everything: bool = False) -> Tensor:
        output = torch.zeros(len(self.rows), self.outputs.count)
        for evaluator, index, x, visible, valid in self.few_at_a_time(masks):
            full = torch.ones_like(visible) if valid is None else valid
            output[index] = evaluator.probabilities(x, full if everything else visible, valid).cpu()
        return output

    def few_at_a_time(self, masks: RandomMasks) -> Iterator[tuple[Evaluator, Tensor, Tensor, Tensor, Tensor | None]]:
        """Evaluators with the indices, rows, masks and padding of the rows that they evaluate, in batches of at most `max_rows`."""
        device, valid = self.run.fabric.device, self.rows.valid
        parts = [torch.arange(len(self.rows))] if self.others is not None else [fold.eval_rows for fold in self.folds]
        for position, part in enumerate(parts):
            evaluator = self._evaluator(position, masks)
            for index in torch.split(part, self.run.max_rows):
                padding = None if valid is None else valid[index].to(device)
                yield evaluator, index, self.rows.x[index].to(device), self.mask[index].to(device), padding

    def _evaluator(self, position: int, masks: RandomMasks) -> Evaluator:
        """The evaluator that was not trained on the rows of a fold. All folds share it if there are other rows to train on."""
        if self.others is not None:
            evaluator = self.evaluators.of(self.others.rows, masks)
        else:
            evaluator = self.evaluators.of(self.folds[position].learn, masks, fold=position)
        return evaluator.to(self.run.fabric.device)

    # ---- rows for readers, and for measures that train or sample ----

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """The training rows for each part of the rows: other rows with their explanations, otherwise the other half."""
        rows, e = self.rows, self.explanation
        if self.others is not None and self.others.explain is not None:
            scores, mask = self.others.explain()
            return (Fold(self.others.rows, mask, scores, torch.arange(len(rows))),)
        one, other = halves(len(rows), seed=self.run.seed)
        return tuple(Fold(rows.take(learn), e.mask[learn], e.scores[learn], index) for learn, index in ((other, one), (one, other)))

    @cached_property
    def background(self) -> Tensor:
        """Encoded background rows (n, ...): other rows, or half of the explained rows."""
        return self.others.rows.x if self.others is not None else self.rows.x[halves(len(self.rows), seed=self.run.seed)[0]]

    @cached_property
    def not_background(self) -> Tensor:
        """Indices of the explained rows that are not background rows."""
        return torch.arange(len(self.rows)) if self.others is not None else halves(len(self.rows), seed=self.run.seed)[1]

    @cached_property
    def sampled(self) -> Tensor:
        """Indices of a random sample of the rows, for slow measures."""
        return torch.randperm(len(self.rows), generator=self.generator())[:SUBSAMPLE_ROWS].sort().values

    @cached_property
    def refits(self) -> list[Explanation]:
        """The explanation, and explanations of fits with other seeds."""
        assert self.callables.refit is not None
        return [self.explanation, *(self.callables.refit(self.run.seed + 1 + index, "") for index in range(REFITS))]

    def generator(self) -> torch.Generator:
        """A new random generator with the seed of the run."""
        return torch.Generator().manual_seed(self.run.seed)

    # ---- encoding ----

    @cached_property
    def encoding(self) -> Tensor:
        """Encoding (b,): nats that the choice of each mask reveals about the target beyond the visible values."""
        values, run = torch.zeros(len(self.rows), dtype=torch.double), self.run
        for position, (learn, mask, _, index) in enumerate(self.folds):
            evaluator, rows = self._evaluator(position, FixedRate), self.rows.take(index)
            values[index] = encoding_values(
                evaluator, learn, mask, rows, self.mask[index], fabric=run.fabric, seed=run.seed, max_rows=run.max_rows
            )
        return values
