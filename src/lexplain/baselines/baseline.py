"""What every baseline is: scores of rows, and the features of the largest ones."""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, clone
from torch import Tensor, nn

from .. import check
from ..core import Batch, Explanation, seeded
from ..core.contracts import Features, Labels, Model, RandomState, RawRows
from ..core.kinds import features_for, kind_of
from ..core.rows import MAX_ROWS, as_array, take_rows
from ..core.seeding import seed_of
from ..masks import top_k_mask
from ..methods import Step
from ..models import Problem, Target
from ..models.asked import as_many_outputs, model_output
from ..models.target import known_classes
from ..training import train_network

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True)
class RowsToScore:
    """The rows that a baseline is to score."""

    x: Tensor  # (b, ...) encoded
    raw: RawRows  # (b, ...) as they were given
    model_output: Tensor | None  # (b, c) what the model says of them; None where there is no model
    target_class: Tensor  # (b,) the class to explain
    position: Tensor  # (b,) where they stand among all that are explained
    total: int  # how many are explained
    valid: Tensor | None = None  # (b, d) of bool: False is padding

    def __len__(self) -> int:
        return len(self.x)

    def take(self, at: slice) -> RowsToScore:
        """Some of the rows."""
        raw = take_rows(self.raw, np.arange(len(self))[at])
        said, valid = (None if each is None else each[at] for each in (self.model_output, self.valid))
        return replace(
            self, x=self.x[at], raw=raw, model_output=said, target_class=self.target_class[at], position=self.position[at], valid=valid
        )


class Baseline(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """Score features with one of the usual methods, behind the face of an `Explainer`.

    Masks and perturbations act on encoded rows, in which 0 is a column's mean and 1 its standard deviation: "nothing" is the mean, and
    slopes are those of standardised columns. Raw scores of a group, or of a column of categories, are added up.

    Args:
        keep: features that the mask shows, those of the largest absolute score, the first of equal ones; None: half, rounded up.
        features: what can be on or off, such as `Groups(...)`; None: each column.
        max_rows: most model rows in flight; None: 100,000.
        random_state: seed of every draw.

    Attributes:
        model_rows_: rows that the model has been asked for since `fit` began, those of `explain` included.
        fit_seconds_: seconds that `fit` took.
        findings_: no baseline reports any.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("model",)  # what fit must be given one of: "model", "network" (a model with gradients), "y"
    perturbation_based: ClassVar[bool] = True  # whether it asks the model about rows with features taken out
    fits_each_row: ClassVar[bool] = False  # whether it fits a model to each row explained, so that comparisons ask it about few rows
    kinds: ClassVar[tuple[str, ...] | None] = ("columns", "patches")  # of features that it explains; None: any

    def __init__(
        self, *, keep: int | None = None, features: Features | None = None, max_rows: int | None = None, random_state: RandomState = 0
    ) -> None:
        self.keep = keep
        self.features = features
        self.max_rows = max_rows
        self.random_state = random_state

    # ---- for leaves ----

    @abstractmethod
    def _scores(self, rows: RowsToScore) -> Tensor:
        """Signed scores (b, d) of the wanted class; ranked by their absolute value."""

    def _learn(self, x: Tensor, y: Labels) -> None:
        """Learn what is needed from encoded training rows (n, ...)."""

    def _copies(self) -> int:
        """Model rows in flight for each row explained."""
        return 1

    def _explained_output(self, rows: RawRows, x: Tensor) -> Tensor | None:
        """What is explained (b, c): the model's answer to raw rows."""
        return None if self.function_ is None else self._query_raw(rows)

    def _predict(self, x: Tensor) -> Callable[[], Tensor] | None:
        """How to predict from encoded rows without the model, for those that can."""
        return None

    # ---- the face ----

    def fit(self, X: RawRows, y: Labels = None, *, model: Model = None) -> Self:
        """Remember the model and the training rows, and learn what the method learns.

        Args:
            X: (rows, columns) numbers, or a DataFrame.
            y: labels or values; with a model only CXPlain heeds them.
            model: a scikit-learn estimator, an `nn.Module`, or a function of rows to class probabilities or values.
        """
        began = time.perf_counter()
        blank = self.features if self.features is not None else features_for(X)
        if self.kinds is not None and blank.kind not in self.kinds:
            known = ", ".join(self.kinds)
            raise ValueError(f"{self.name} explains features of kind {known}, not {blank.kind}; choose another baseline, such as 'random'")
        self._refuse_missing(y, model)
        check.counts(max_rows=self.max_rows)
        problem = Problem.of(X, y, model, blank.fit(X) if blank.is_fitted else blank)
        features = problem.features
        check.enough_features(features.count)
        self.k_ = check.kept_features(self.keep, features.count)
        self.features_, self.model_ = features, model
        self.n_features_in_ = len(features.input_names)
        self.seed_ = seed_of(self.random_state)
        labels, answer, asked = problem.targets
        self.target_ = answer if answer is not None else labels
        self.function_ = None if asked is None else asked.function
        self.model_rows_ = 0 if asked is None else asked.rows
        with seeded(self.seed_):
            self._learn(problem.encoded.x, y)
        self.findings_: list[str] = []
        self.fit_seconds_: float | None = time.perf_counter() - began
        return self

    def explain(self, X: RawRows, *, target: Labels = None) -> Explanation:
        """Score the features of each row for its predicted class.

        Args:
            X: rows with the columns of the fit.
            target: (rows,) or one label: the class to explain; None: the predicted one.
        """
        check.fitted(self)
        raw = self.features_.check(X)
        x, valid, unexplained = self.features_.encode(raw)
        classes = None if self.target_ is None else self.target_.classes
        said = self._explained_output(raw, x)
        explained = None if said is None else said.argmax(1)
        if target is not None:
            explained = torch.as_tensor(known_classes(target, classes, len(x)))
        wanted = explained if explained is not None else torch.zeros(len(x), dtype=torch.long)
        rows = RowsToScore(x, raw, said, wanted, torch.arange(len(x)), len(x), valid)
        step = max(1, self._most() // self._copies())
        with seeded(self.seed_):
            scores = torch.cat([self._scores(rows.take(slice(at, at + step))) for at in range(0, len(x), step)]).detach().float().cpu()
        scores = scores if valid is None else scores.masked_fill(~valid, 0.0)
        return Explanation(
            scores=scores,
            mask=self._mask(scores, valid),
            names=self.features_.row_names(raw),
            data=raw,
            method=self.name,
            features=self.features_,
            target_index=explained,
            compute_prediction=self._predict(x),
            classes=None if classes is None else tuple(classes),
            valid=valid,
            unexplained=unexplained,
            perturbation_based=self.perturbation_based,
        )

    __call__ = explain

    def transform(self, X: RawRows) -> np.ndarray:
        """The mask (rows, features): True = visible."""
        return np.asarray(self.explain(X).mask)

    def needs_of(self, features: Features) -> tuple[str, ...]:
        """What `fit` needs one of."""
        return self.needs

    def prepared(self, *, seed: int, features: Features, keep: int | None, size: Callable[[], int]) -> Self:
        """An unfitted copy for a comparison; see `ExplainerFace`."""
        own: Self = clone(self).set_params(random_state=seed)
        own.features = features if own.features is None else own.features
        own.keep = (size() if keep is None else keep) if own.keep is None else own.keep
        return own

    # ---- the model ----

    def _refuse_missing(self, y: Labels, model: Model) -> None:
        """Refuse to fit without what is explained."""
        if "network" in self.needs and not isinstance(model, nn.Module):
            got = "none was given" if model is None else f"the model is a {type(model).__name__}"
            raise TypeError(
                f"{self.name} needs gradients, which a torch.nn.Module has, but {got}; pass fit(X, model=network), "
                "or choose a baseline that only asks the model, such as shap, lime or ablation"
            )
        if "model" in self.needs and model is None and not ("y" in self.needs and y is not None):
            what = "a model or labels" if "y" in self.needs else "a model"
            raise ValueError(
                f"{self.name} explains {what}, but none was given; pass fit(X, model=...), such as a classifier fitted to X and y"
            )

    @property
    def _target(self) -> Target:
        assert self.target_ is not None  # whoever reads it needs a model
        return self.target_

    def _train(self, network: nn.Module, step: Step, parts: tuple[Batch, Batch], steps: int) -> None:
        """Train a network of encoded rows for about so many steps, and keep its best epoch."""
        warmup = kind_of(self.features_).pace.warmup_steps
        train_network(network, step, parts, steps=steps, patient=True, warmup_steps=warmup, max_rows=self._most(), seed=self.seed_)

    def _most(self) -> int:
        return self.max_rows or MAX_ROWS

    def _mask(self, scores: Tensor, valid: Tensor | None) -> Tensor:
        """The k features (b, d) of the largest absolute score, or all that are there."""
        return top_k_mask(scores.abs(), self.k_, valid)

    def _query_encoded(self, x: Tensor) -> Tensor:
        """What the model says (n, c) of encoded rows."""
        return self._query_raw(self.features_.decode(x))

    def _query_raw(self, rows: RawRows) -> Tensor:
        """What the model says (n, c) of raw rows, as many at a time as may be in flight: class probabilities, or values in their units."""
        assert self.function_ is not None
        answers = []
        for at in range(0, len(rows), self._most()):
            part = take_rows(rows, np.arange(at, min(len(rows), at + self._most())))
            answers.append(model_output(as_array(self.function_(part)), len(part)).reshape(len(part), -1))
            as_many_outputs(answers[-1].shape[1], self._target.outputs.count)
        self._count(len(rows))
        return torch.from_numpy(np.concatenate(answers).astype(np.float64))

    def _count(self, rows: int) -> None:
        self.model_rows_ += rows


class EncodedNetwork(nn.Module):
    """A copy of a network that reads encoded rows (n, ...), answers (n, c) as the network does, and counts them."""

    def __init__(self, network: nn.Module, to_raw: Callable[[Tensor], Tensor], count: Callable[[int], None]) -> None:
        super().__init__()
        self.network, self.to_raw, self.count = copy.deepcopy(network).float().eval().requires_grad_(False), to_raw, count
        self.device = next(self.network.parameters(), torch.zeros(())).device

    def forward(self, x: Tensor) -> Tensor:
        """Logits or values, whatever the network returns."""
        self.count(len(x))
        output: Tensor = self.network(self.to_raw(x))
        return output.reshape(len(x), -1)
