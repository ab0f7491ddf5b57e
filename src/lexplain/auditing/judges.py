"""What judges say of an explanation's rows, none of which they learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from ..core import Explanation, Trial, target_values
from ..core.contracts import Features, Outputs
from ..masks import Coins, FixedMasks
from ..metrics.predictive import accuracy
from ..metrics.ranking import without_padding
from ..metrics.selection import mask_only_accuracy
from ..metrics.statistics import bootstrap
from ..training import Evaluator, split_tenth, train_evaluator
from .encoding_test import encoding_values

if TYPE_CHECKING:
    from lightning_fabric import Fabric

FOLDS = 2
SIZES = 30  # points of a trade-off at the most
MakeEvaluator = Callable[[Trial, FixedMasks], Evaluator]  # rows to learn from, and masks to learn on, to a judge


@dataclass(frozen=True)
class Resources:
    """Where judges learn, from which seed, and how many rows may be in flight."""

    fabric: Fabric
    seed: int
    max_rows: int


@dataclass(frozen=True)
class OtherRows:
    """Rows that judges learn from and do not judge, and how they were explained."""

    rows: Trial
    explain: Callable[[], tuple[Tensor, Tensor]] | None = None  # their scores and masks (n, d), asked for once; None: not explained

    @cached_property
    def _explained(self) -> tuple[Tensor, Tensor]:
        assert self.explain is not None
        return self.explain()

    @property
    def scores(self) -> Tensor:
        """(n, d) the scores of the rows."""
        return self._explained[0]

    @property
    def mask(self) -> Tensor:
        """(n, d) what is kept of the rows."""
        return self._explained[1]


class _Part(NamedTuple):
    """Rows to judge, and what their readers of masks learn from."""

    judge: int  # which of the judges has not seen them
    learn: Trial
    mask: Tensor  # of the rows to learn from
    judged: Tensor  # indices


def folds(rows: int, seed: int) -> tuple[Tensor, ...]:
    """Indices of the rows in parts, each of which is judged by what was learned from the others."""
    return torch.randperm(rows, generator=torch.Generator().manual_seed(seed)).chunk(FOLDS)


def fold_rest(parts: tuple[Tensor, ...], place: int) -> Tensor:
    """Indices of the rows of all parts but one."""
    return torch.cat([other for at, other in enumerate(parts) if at != place])


class Judges:
    """Evaluators and readers of masks, each trained when it is first asked.

    Args:
        features: feature masks to raw masks.
        outputs: what is predicted.
        rows: the rows explained, encoded.
        explanation: of them.
        other: rows to learn from; None: each half of the rows is judged by what was learned from the other half.
        run: where things run.
        make: how an evaluator comes to be; None: it is trained now.
        reads_masks: whether enough rows were explained for a reader of masks to learn from.
    """

    def __init__(
        self,
        features: Features,
        outputs: Outputs,
        rows: Trial,
        explanation: Explanation,
        other: OtherRows | None,
        run: Resources,
        *,
        make: MakeEvaluator | None = None,
        reads_masks: bool = True,
    ) -> None:
        self.features, self.outputs, self.rows, self.explanation, self.other, self.run = features, outputs, rows, explanation, other, run
        self.reads_masks = reads_masks
        self._make = make or self._train
        self._made: dict[tuple[int, FixedMasks], Evaluator] = {}
        self._said: dict[tuple[FixedMasks, bool], Tensor] = {}

    # ---- who judges what ----

    def _train(self, rows: Trial, masks: FixedMasks) -> Evaluator:
        parts, seed = split_tenth(rows, self.run.seed), self.run.seed
        return train_evaluator(self.features, self.outputs, *parts, masks=masks, fabric=self.run.fabric, seed=seed)

    @cached_property
    def _panel(self) -> list[tuple[Trial, Tensor]]:
        """What each judge learns from, and which rows it then judges."""
        if self.other is not None:
            return [(self.other.rows, torch.arange(len(self.rows)))]
        parts = folds(len(self.rows), self.run.seed)
        return [(self.rows.take(fold_rest(parts, place)), part) for place, part in enumerate(parts)]

    def _judge(self, place: int, masks: FixedMasks) -> Evaluator:
        if (place, masks) not in self._made:
            self._made[place, masks] = self._make(self._panel[place][0], masks)
        return self._made[place, masks]

    @cached_property
    def _readings(self) -> list[_Part]:
        """What readers of masks learn from, and which rows they judge: masks of other rows, else those of the other folds."""
        mask = self.explanation.mask
        if self.other is not None and self.other.explain is not None:
            return [_Part(0, self.other.rows, self.other.mask, torch.arange(len(self.rows)))]
        parts = folds(len(self.rows), self.run.seed)
        rest = [fold_rest(parts, place) for place in range(len(parts))]
        judges = range(len(parts)) if self.other is None else [0] * len(parts)
        return [_Part(judge, self.rows.take(r), mask[r], at) for judge, r, at in zip(judges, rest, parts, strict=True)]

    # ---- what they say ----

    def kept(self, masks: FixedMasks) -> Tensor:
        """(b, c) what judges that learned on such masks say from what is kept."""
        return self._asked(masks, everything=False)

    def everything(self, masks: FixedMasks) -> Tensor:
        """(b, c) what judges that learned on such masks say from all features."""
        return self._asked(masks, everything=True)

    def _asked(self, masks: FixedMasks, *, everything: bool) -> Tensor:
        if (masks, everything) not in self._said:
            said = torch.zeros(len(self.rows), self.outputs.count)
            for judge, at, x, shown, valid in self._few_at_a_time(masks):
                every = torch.ones_like(shown) if valid is None else valid
                said[at] = judge.probabilities(x, every if everything else shown, valid).cpu()
            self._said[masks, everything] = said
        return self._said[masks, everything]

    def _few_at_a_time(self, masks: FixedMasks) -> Iterator[tuple[Evaluator, Tensor, Tensor, Tensor, Tensor | None]]:
        """Each judge with the indices, rows, masks and padding of what it judges, as many as may be in flight."""
        device, valid = self.run.fabric.device, self.rows.valid
        for place, (_, judged) in enumerate(self._panel):
            judge = self._judge(place, masks)
            for at in torch.split(judged, self.run.max_rows):
                there = None if valid is None else valid[at].to(device)
                yield judge, at, self.rows.x[at].to(device), self.explanation.mask[at].to(device), there

    @cached_property
    def tradeoff(self) -> pd.DataFrame | None:
        """How often EVAL-X, shown the k best features by score, tells the class; None for real values."""
        if self.outputs.real:
            return None
        count, labels = self.features.count, target_values(self.rows.target).argmax(1)
        sizes = torch.arange(count + 1) if count <= SIZES else torch.linspace(0, count, SIZES + 1).round().long()
        right = torch.zeros(len(sizes), len(self.rows), dtype=torch.bool)
        for judge, at, x, shown, valid in self._few_at_a_time(Coins):
            scores = self.explanation.scores[at].abs()
            order = without_padding(scores, None if valid is None else valid.cpu()).argsort(dim=1, descending=True, stable=True)
            place = order.argsort(1).to(shown.device)  # (b, d)
            for step, size in enumerate(sizes.tolist()):
                best = place < size if valid is None else (place < size) & valid
                right[step, at] = accuracy(judge.probabilities(x, best, valid).cpu(), labels[at]).bool()
        found = [bootstrap(values.double()) for values in right]
        return pd.DataFrame({"kept": int(size), "eacc": e.mean, "low": e.low, "high": e.high} for size, e in zip(sizes, found, strict=True))

    # ---- what masks tell ----

    @cached_property
    def encoding(self) -> Tensor:
        """(b,) nats that the choice of each mask tells beyond the values it shows."""
        values, mask, run = torch.zeros(len(self.rows), dtype=torch.double), self.explanation.mask, self.run
        for part in self._readings:
            judge, at = self._judge(part.judge, Coins), part.judged
            values[at] = encoding_values(
                judge, part.learn, part.mask, self.rows.take(at), mask[at], fabric=run.fabric, seed=run.seed, max_rows=run.max_rows
            )
        return values

    @cached_property
    def mask_only(self) -> Tensor:
        """(b,) 1 where a forest that sees the mask alone names the class."""
        values, mask = torch.zeros(len(self.rows), dtype=torch.double), self.explanation.mask
        for part in self._readings:
            theirs, own = (target_values(trial.target).argmax(1) for trial in (part.learn, self.rows.take(part.judged)))
            values[part.judged] = mask_only_accuracy(part.mask, theirs, mask[part.judged], own)
        return values
