"""What is known of an explanation's rows; what is costly is found when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from ..core import Explanation, Trial
from ..core.contracts import Features, Outputs
from ..masks import Coins, UniformRate
from ..predictors import Target
from .judges import Judges, Resources, fold_rest, folds
from .kernel_shap import shap_there

SOME = 500  # rows of measures that ask the model, or the explainer, hundreds of times about each
REFITS = 2  # fits with other seeds
OnEncoded = Callable[[Tensor], Tensor]  # encoded rows (n, ...) to what somebody says of them (n, c)


@dataclass(frozen=True)
class Questions:
    """What may be asked again: the model, the explainer, and fits of it."""

    model: OnEncoded | None = None  # class probabilities of the model that is explained
    explain: OnEncoded | None = None  # the explainer's scores (n, d)
    says: OnEncoded | None = None  # what is explained: the model's answer, else the explainer's own
    fit_seconds: float | None = None  # what the explainer's fit took, where it knows
    refit: Callable[[int, str], Explanation] | None = None  # a seed, and what is randomised ("", "model", "labels"), to an explanation anew
    randomised: tuple[str, ...] = ()  # what can be


class Split(NamedTuple):
    """Rows to learn from with their explanations, and rows to judge what was learned on."""

    learn: Trial
    mask: Tensor  # (n, d) of the rows to learn from
    scores: Tensor  # (n, d)
    judged: Tensor  # indices of the rows that are explained


@dataclass(frozen=True)
class Evidence:
    """All that measures may look at."""

    explanation: Explanation
    features: Features
    target: Target
    judges: Judges
    truth: Tensor | None = None  # (b, d) of bool: the features that really decide
    control_flow: int | None = None  # the feature that only decides which others matter
    questions: Questions = field(default_factory=Questions)

    # ---- what was given ----

    @property
    def rows(self) -> Trial:
        """The rows explained, encoded, with their targets."""
        return self.judges.rows

    @property
    def mask(self) -> Tensor:
        """(b, d) what is kept."""
        return self.explanation.mask

    @property
    def valid(self) -> Tensor | None:
        """(b, d) of bool: False is padding."""
        return self.rows.valid

    @property
    def sizes(self) -> Tensor:
        """(b, d) how important each feature is: scores of other tools speak for and against."""
        return self.explanation.scores.abs()

    @property
    def outputs(self) -> Outputs:
        """What is predicted."""
        return self.target.outputs

    @property
    def run(self) -> Resources:
        """Where things run, from which seed, and how many rows at a time."""
        return self.judges.run

    @cached_property
    def labels(self) -> Tensor:
        """(b,) index of the target's class."""
        return self.target.values.argmax(1)

    # ---- what others say ----

    @property
    def own(self) -> Tensor:
        """(b, c) what the explanation's own predictor says from what is kept."""
        return self.explanation.prediction

    @property
    def judged(self) -> Tensor:
        """(b, c) what EVAL-X, which learned from fair coins, says from what is kept."""
        return self.judges.kept(Coins)

    @property
    def judged_at_any_rate(self) -> Tensor:
        """(b, c) what a judge that learned from masks of every size says from what is kept."""
        return self.judges.kept(UniformRate)

    @property
    def judged_from_all(self) -> Tensor:
        """(b, c) what that judge says from all features."""
        return self.judges.everything(UniformRate)

    # ---- rows for measures that learn or draw ----

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """What may be learned from, for each part of the rows: other rows with explanations of their own, else the other folds."""
        other, rows, e = self.judges.other, self.rows, self.explanation
        if other is not None and other.explain is not None:
            return (Split(other.rows, other.mask, other.scores, torch.arange(len(rows))),)
        parts = folds(len(rows), self.run.seed)
        rest = [fold_rest(parts, place) for place in range(len(parts))]
        return tuple(Split(rows.take(learn), e.mask[learn], e.scores[learn], at) for learn, at in zip(rest, parts, strict=True))

    @cached_property
    def background(self) -> Tensor:
        """(n, ...) encoded rows that were not explained, or half of those that were."""
        other = self.judges.other
        return other.rows.x if other is not None else self.rows.x[folds(len(self.rows), self.run.seed)[0]]

    @cached_property
    def apart(self) -> Tensor:
        """Indices of the rows explained that are not in the background."""
        parts = folds(len(self.rows), self.run.seed)
        return torch.arange(len(self.rows)) if self.judges.other is not None else torch.cat(parts[1:])

    @cached_property
    def some(self) -> Tensor:
        """Indices of a few rows, for measures that take long."""
        return torch.randperm(len(self.rows), generator=self.draws())[:SOME].sort().values

    @cached_property
    def refits(self) -> list[Explanation]:
        """The explanation, and those of fits with other seeds."""
        assert self.questions.refit is not None
        return [self.explanation, *(self.questions.refit(self.run.seed + 1 + place, "") for place in range(REFITS))]

    def draws(self) -> torch.Generator:
        """A generator of the measures' own draws."""
        return torch.Generator().manual_seed(self.run.seed)


class Need(NamedTuple):
    """Something that a measure cannot do without."""

    words: str  # what it is, for whoever asks for the measure
    there: Callable[[Evidence], bool]


NEEDS: dict[str, Need] = {
    "classes": Need("a target of classes", lambda e: not e.outputs.real),
    "own prediction": Need("an explanation with a predictor of its own", lambda e: e.explanation.predict is not None),
    "truth": Need("the truth: which features really decide", lambda e: e.truth is not None),
    "control flow": Need("the place of the control-flow feature", lambda e: e.control_flow is not None),
    "masks": Need("explanations of enough rows for a reader of masks to learn from", lambda e: e.judges.reads_masks),
    "model": Need("a model of classes", lambda e: e.questions.model is not None),
    "explainer": Need("the explainer", lambda e: e.questions.explain is not None),
    "quantities": Need("features whose encoded values are quantities", lambda e: e.features.numeric),
    "refit": Need("an explainer that can be fitted again", lambda e: e.questions.refit is not None),
    "random model": Need(
        "an explainer that can be fitted again, and a network, or labels, to replace by chance", lambda e: "model" in e.questions.randomised
    ),
    "random labels": Need(
        "an explainer that can be fitted again, and a network, or labels, to replace by chance",
        lambda e: "labels" in e.questions.randomised,
    ),
    "peer": Need(
        "a model, an explainer that was fitted here (a file does not tell how long that took) and shap ('lexplain[peers]')",
        lambda e: e.questions.explain is not None and e.questions.says is not None and e.questions.fit_seconds is not None and shap_there(),
    ),
}
