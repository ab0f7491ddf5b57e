"""What is known of an explanation and who judges it; what is costly is computed when it is first needed."""

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

SUBSAMPLE_ROWS = 500  # rows of measures that ask the model, or the explainer, hundreds of times about each
REFITS = 2  # fits with other seeds


@dataclass(frozen=True)
class Run:
    """Device, seed and memory limit of an evaluation; judges have a seed of their own."""

    fabric: Fabric
    seed: int  # of readers, folds and measures
    max_rows: int = MAX_ROWS  # most rows in flight


@dataclass(frozen=True)
class Others:
    """Other rows, from which judges learn and which they do not judge."""

    rows: Batch
    explain: Callable[[], tuple[Tensor, Tensor]] | None = None  # their scores and masks (n, d), called once; None: not explained


@dataclass(frozen=True)
class Callables:
    """What may be asked again: the model, the explainer, and fits of it."""

    model: EncodedFunction | None = None  # class probabilities of the model that is explained
    explain: EncodedFunction | None = None  # the explainer's scores (n, d)
    predict: EncodedFunction | None = None  # what is explained: the model's answer, else the explainer's own
    fit_seconds: float | None = None  # what the explainer's fit took, where it knows
    refit: Callable[[int, str], Explanation] | None = None  # a seed, and what is randomised ("", "model", "labels"), to an explanation anew
    randomised: tuple[str, ...] = ()  # what can be


class Fold(NamedTuple):
    """Rows to learn from with their explanations, and rows to judge what was learned on."""

    learn: Batch
    mask: Tensor  # (n, d) of the rows to learn from
    scores: Tensor  # (n, d)
    eval_rows: Tensor  # indices of the rows that are explained


@dataclass(frozen=True)
class Evaluation:
    """All that measures may look at."""

    explanation: Explanation
    features: Features
    rows: Batch  # the rows explained, encoded, with their targets
    target: Target
    run: Run
    evaluators: Evaluators
    others: Others | None = None  # None: each half of the rows is judged by what was learned from the other half
    has_enough_masks: bool = True  # whether enough rows were explained for a reader of masks to learn from
    truth: Tensor | None = None  # (b, d) of bool: the features that really decide
    control_flow: int | None = None  # the feature that only decides which others matter
    callables: Callables = field(default_factory=Callables)

    # ---- what was given ----

    @property
    def mask(self) -> Tensor:
        """(b, d) what is kept."""
        return self.explanation.mask

    @property
    def valid(self) -> Tensor | None:
        """(b, d) of bool: False is padding."""
        return self.rows.valid

    @property
    def importance(self) -> Tensor:
        """(b, d) how important each feature is: scores of other tools speak for and against."""
        return self.explanation.scores.abs()

    @property
    def outputs(self) -> Outputs:
        """What is predicted."""
        return self.target.outputs

    @cached_property
    def labels(self) -> Tensor:
        """(b,) index of the target's class."""
        return self.target.values.argmax(1)

    # ---- what is predicted from what is kept ----

    @property
    def own_prediction(self) -> Tensor:
        """(b, c) what the explanation's own predictor says from what is kept."""
        return self.explanation.prediction

    @cached_property
    def evaluator_prediction(self) -> Tensor:
        """(b, c) what EVAL-X, which learned from fair coins, says from what is kept."""
        return self._predicted(FixedRate)

    @cached_property
    def uniform_rate_prediction(self) -> Tensor:
        """(b, c) what a judge that learned from masks of every size says from what is kept."""
        return self._predicted(UniformRate)

    @cached_property
    def full_prediction(self) -> Tensor:
        """(b, c) what that judge says from all features."""
        return self.predict_all(UniformRate)

    def predict_all(self, masks: RandomMasks) -> Tensor:
        """(b, c) what judges that learned on such masks say from all features."""
        return self._predicted(masks, everything=True)

    def _predicted(self, masks: RandomMasks, *, everything: bool = False) -> Tensor:
        output = torch.zeros(len(self.rows), self.outputs.count)
        for judge, at, x, visible, valid in self.few_at_a_time(masks):
            whole = torch.ones_like(visible) if valid is None else valid
            output[at] = judge.probabilities(x, whole if everything else visible, valid).cpu()
        return output

    def few_at_a_time(self, masks: RandomMasks) -> Iterator[tuple[Evaluator, Tensor, Tensor, Tensor, Tensor | None]]:
        """Each judge with the indices, rows, masks and padding of what it judges, as many as may be in flight."""
        device, valid = self.run.fabric.device, self.rows.valid
        parts = [torch.arange(len(self.rows))] if self.others is not None else [fold.eval_rows for fold in self.folds]
        for place, part in enumerate(parts):
            judge = self._evaluator(place, masks)
            for at in torch.split(part, self.run.max_rows):
                padding = None if valid is None else valid[at].to(device)
                yield judge, at, self.rows.x[at].to(device), self.mask[at].to(device), padding

    def _evaluator(self, place: int, masks: RandomMasks) -> Evaluator:
        """The judge that has not seen the rows of a fold: one for all folds if there are other rows to learn from."""
        if self.others is not None:
            judge = self.evaluators.of(self.others.rows, masks)
        else:
            judge = self.evaluators.of(self.folds[place].learn, masks, fold=place)
        return judge.to(self.run.fabric.device)

    # ---- rows for readers, and for measures that learn or draw ----

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """What may be learned from, for each part of the rows: other rows with explanations of their own, else the other half."""
        rows, e = self.rows, self.explanation
        if self.others is not None and self.others.explain is not None:
            scores, mask = self.others.explain()
            return (Fold(self.others.rows, mask, scores, torch.arange(len(rows))),)
        one, other = halves(len(rows), seed=self.run.seed)
        return tuple(Fold(rows.take(learn), e.mask[learn], e.scores[learn], at) for learn, at in ((other, one), (one, other)))

    @cached_property
    def background(self) -> Tensor:
        """(n, ...) encoded rows that were not explained, or half of those that were."""
        return self.others.rows.x if self.others is not None else self.rows.x[halves(len(self.rows), seed=self.run.seed)[0]]

    @cached_property
    def not_background(self) -> Tensor:
        """Indices of the rows explained that are not in the background."""
        return torch.arange(len(self.rows)) if self.others is not None else halves(len(self.rows), seed=self.run.seed)[1]

    @cached_property
    def sampled(self) -> Tensor:
        """Indices of a few rows, for measures that take long."""
        return torch.randperm(len(self.rows), generator=self.generator())[:SUBSAMPLE_ROWS].sort().values

    @cached_property
    def refits(self) -> list[Explanation]:
        """The explanation, and those of fits with other seeds."""
        assert self.callables.refit is not None
        return [self.explanation, *(self.callables.refit(self.run.seed + 1 + place, "") for place in range(REFITS))]

    def generator(self) -> torch.Generator:
        """A generator of the measures' own draws."""
        return torch.Generator().manual_seed(self.run.seed)

    # ---- what masks tell ----

    @cached_property
    def encoding(self) -> Tensor:
        """(b,) nats that the choice of each mask tells beyond the values it shows."""
        values, run = torch.zeros(len(self.rows), dtype=torch.double), self.run
        for place, (learn, mask, _, at) in enumerate(self.folds):
            judge, rows = self._evaluator(place, FixedRate), self.rows.take(at)
            values[at] = encoding_values(judge, learn, mask, rows, self.mask[at], fabric=run.fabric, seed=run.seed, max_rows=run.max_rows)
        return values
