"""The base class of baselines: scores of rows, and masks of the features with the largest scores."""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from ..core.rows import MAX_ROWS, take_rows
from ..core.seeding import seed_of
from ..masks import top_k_mask
from ..methods import Step
from ..models import Problem, Target, as_queried
from ..models.target import known_classes
from ..training import train_network

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True)
class RowsToScore:
    """Rows that a baseline scores."""

    x: Tensor  # (b, ...) encoded
    raw: RawRows  # (b, ...) as the user passed them
    model_output: Tensor | None  # (b, c) outputs of the model; None: no model
    target_class: Tensor  # (b,) class to explain
    position: Tensor  # (b,) position among all explained rows
    total: int  # number of explained rows
    valid: Tensor | None = None  # (b, d) of bool: False is padding

    def __len__(self) -> int:
        return len(self.x)

    def take(self, at: slice) -> RowsToScore:
        """The rows of a slice."""
        raw = take_rows(self.raw, np.arange(len(self))[at])
        output, valid = (None if each is None else each[at] for each in (self.model_output, self.valid))
        return replace(
            self, x=self.x[at], raw=raw, model_output=output, target_class=self.target_class[at], position=self.position[at], valid=valid
        )


class Baseline(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """Score features with a common attribution method, with the interface of `Explainer`.

    Masks and perturbations act on encoded rows, in which columns have mean 0 and standard deviation 1. By default, hidden features are set
    to their mean. Input gradients are those of standardised columns. The score of a group, or of a categorical column, is a sum of scores.
    Perturbed rows are composed of unchanged cells of the explained and the training rows, except for means, noise, gradients and LIME.

    Args:
        keep: Number of features to keep, those with the largest absolute scores; ties go to the first. None: half, rounded up.
        features: What can be kept or hidden, such as `Groups(...)`. None: each column.
        max_rows: Maximum number of rows sent to a model at once. None: 100,000.
        random_state: Random seed.

    Attributes:
        model_rows_: Number of queries of the model since `fit` began, including those of `explain`. The same rows are queried once.
        fit_seconds_: Seconds that `fit` took.
        findings_: Always empty.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("model",)  # `fit` needs one of: "model", "network" (a model with gradients), "y"
    perturbation_based: ClassVar[bool] = True  # whether it queries the model on rows with hidden features
    fits_each_row: ClassVar[bool] = False  # whether it fits a model per explained row; if so, comparisons explain few rows
    kinds: ClassVar[tuple[str, ...] | None] = ("columns", "patches")  # supported kinds of features; None: all

    def __init__(
        self, *, keep: int | None = None, features: Features | None = None, max_rows: int | None = None, random_state: RandomState = 0
    ) -> None:
        self.keep = keep
        self.features = features
        self.max_rows = max_rows
        self.random_state = random_state

    # ---- for subclasses ----

    @abstractmethod
    def _scores(self, rows: RowsToScore) -> Tensor:
        """Signed scores (b, d) of the target class; features are ranked by absolute value."""

    def _learn(self, x: Tensor, y: Labels) -> None:
        """Prepare for scoring, from encoded training rows (n, ...)."""

    def _copies(self) -> int:
        """Number of rows sent to the model at once per explained row."""
        return 1

    def _background_rows(self) -> tuple[RawRows, ...]:
        """Raw rows, kept by `_learn`, that hidden features take their values from."""
        return ()

    def _explained_output(self, rows: RawRows, x: Tensor) -> Tensor | None:
        """The explained outputs (b, c), by default those of the model for raw rows."""
        return None if self.function_ is None else self._query_raw(rows, again=True)

    def _predict(self, x: Tensor) -> Callable[[], Tensor] | None:
        """A function that predicts encoded rows without the model. None: not supported."""
        return None

    # ---- interface ----

    def fit(self, X: RawRows, y: Labels = None, *, model: Model = None) -> Self:
        """Store the model, and prepare the method on training rows.

        Args:
            X: Training rows: a 2-D array or a DataFrame.
            y: Labels or values. With a model, only CXPlain uses them.
            model: Model to explain: a scikit-learn estimator, an `nn.Module`, or a function from rows to class probabilities or values.
        """
        began = time.perf_counter()
        unfitted = self.features if self.features is not None else features_for(X)
        if self.kinds is not None and unfitted.kind not in self.kinds:
            known = ", ".join(self.kinds)
            raise ValueError(f"{self.name} explains features of kind {known}, not {unfitted.kind}. Use another baseline, such as 'random'.")
        self._check_arguments(y, model)
        check.counts(max_rows=self.max_rows)
        queried = None if model is None else as_queried(model, max_rows=self._max_rows())
        problem = Problem.of(X, y, queried, unfitted.fit(X) if unfitted.is_fitted else unfitted)
        features = problem.features
        check.enough_features(features.count)
        self.k_ = check.kept_features(self.keep, features.count)
        self.features_, self.model_, self.function_ = features, model, queried
        self.n_features_in_ = len(features.input_names)
        self.seed_ = seed_of(self.random_state)
        label_target, model_target, _ = problem.targets
        self.target_ = model_target if model_target is not None else label_target
        with seeded(self.seed_), self._decoding(X):
            self._learn(problem.encoded.x, y)
        self.findings_: list[str] = []
        self.fit_seconds_: float | None = time.perf_counter() - began
        return self

    def explain(self, X: RawRows, *, target: Labels = None) -> Explanation:
        """Score the features of each row for its predicted class.

        Args:
            X: Rows with the same columns as in `fit`.
            target: Explained class, one label or (rows,). None: the predicted class.
        """
        check.fitted(self)
        raw = self.features_.check(X)
        x, valid, unexplained = self.features_.encode(raw)
        classes = None if self.target_ is None else self.target_.classes
        output = self._explained_output(raw, x)
        explained = None if output is None else output.argmax(1)
        if target is not None:
            explained = torch.as_tensor(known_classes(target, classes, len(x)))
        target_class = explained if explained is not None else torch.zeros(len(x), dtype=torch.long)
        rows = RowsToScore(x, raw, output, target_class, torch.arange(len(x)), len(x), valid)
        step = max(1, self._max_rows() // self._copies())
        with seeded(self.seed_), self._decoding(raw, *self._background_rows()):
            scores = torch.cat([self._scores(rows.take(slice(i, i + step))) for i in range(0, len(x), step)]).detach().float().cpu()
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
            compute_kept_prediction=self._predict(x),
            classes=None if classes is None else tuple(classes),
            valid=valid,
            unexplained=unexplained,
            perturbation_based=self.perturbation_based,
        )

    __call__ = explain

    def transform(self, X: RawRows) -> np.ndarray:
        """Masks (rows, features) of the rows: True = visible."""
        return np.asarray(self.explain(X).mask)

    def needs_of(self, features: Features) -> tuple[str, ...]:
        """What `fit` needs, one of these: "model", "network", "y"."""
        return self.needs

    def prepared(self, *, seed: int, features: Features, keep: int | None, size: Callable[[], int]) -> Self:
        """An unfitted copy for a comparison; see `ExplainerFace`."""
        own: Self = clone(self).set_params(random_state=seed)
        own.features = features if own.features is None else own.features
        own.keep = (size() if keep is None else keep) if own.keep is None else own.keep
        return own

    # ---- the model ----

    def _check_arguments(self, y: Labels, model: Model) -> None:
        """Raise if the model or the labels are missing."""
        if "network" in self.needs and not isinstance(model, nn.Module):
            got = "no model" if model is None else f"a {type(model).__name__}"
            raise TypeError(
                f"{self.name} needs gradients and therefore a torch.nn.Module, got {got}. Pass fit(X, model=network), "
                "or use a baseline without gradients, such as shap, lime or ablation."
            )
        if "model" in self.needs and model is None and not ("y" in self.needs and y is not None):
            what = "a model or labels" if "y" in self.needs else "a model"
            raise ValueError(
                f"{self.name} explains {what}, but none was passed. Pass fit(X, model=...), such as a classifier fitted to X and y."
            )

    @property
    def _target(self) -> Target:
        assert self.target_ is not None  # only read if there is a target
        return self.target_

    def _train(self, network: nn.Module, step: Step, parts: tuple[Batch, Batch], steps: int) -> None:
        """Train a network of encoded rows for about this number of steps, and restore its best epoch."""
        warmup = kind_of(self.features_).pace.warmup_steps
        train_network(network, step, parts, steps=steps, patient=True, warmup_steps=warmup, max_rows=self._max_rows(), seed=self.seed_)

    def _max_rows(self) -> int:
        return self.max_rows or MAX_ROWS

    def _mask(self, scores: Tensor, valid: Tensor | None) -> Tensor:
        """The k valid features with the largest absolute scores, as masks (b, d)."""
        return top_k_mask(scores.abs(), self.k_, valid)

    def _query_encoded(self, x: Tensor) -> Tensor:
        """Outputs (n, c) of the model for encoded rows.

        Cells of the training rows (in `fit`), or of the explained and the background rows (in `explain`), reach it unchanged.
        """
        return self._query_raw(self._decode(x))

    @contextmanager
    def _decoding(self, *rows: RawRows) -> Iterator[None]:
        """Decode cells of these rows unchanged. The rows are not kept afterwards."""
        self._decode: Callable[[Tensor], RawRows] = self.features_.decoder(*rows)
        try:
            yield
        finally:
            self._decode = self.features_.decode

    def _query_raw(self, rows: RawRows, *, again: bool = False) -> Tensor:
        """Outputs (n, c) of the model for raw rows, at most max_rows at once: class probabilities, or values in their units."""
        assert self.function_ is not None
        return torch.from_numpy(self.function_(rows, again=again).reshape(len(rows), -1).astype(np.float64))

    @property
    def model_rows_(self) -> int:
        """Number of queries of the model since `fit` began."""
        return 0 if self.function_ is None else self.function_.rows

    def _count(self, rows: int) -> None:
        """Count rows that a copy of the model was queried on."""
        assert self.function_ is not None
        self.function_.rows += rows


class EncodedNetwork(nn.Module):
    """A copy of a network that takes encoded rows (n, ...), returns the same outputs (n, c), and counts rows."""

    def __init__(self, network: nn.Module, to_raw: Callable[[Tensor], Tensor], count: Callable[[int], None]) -> None:
        super().__init__()
        self.network, self.to_raw, self.count = copy.deepcopy(network).float().eval().requires_grad_(False), to_raw, count
        self.device = next(self.network.parameters(), torch.zeros(())).device

    def forward(self, x: Tensor) -> Tensor:
        """The outputs of the network: logits or values."""
        self.count(len(x))
        output: Tensor = self.network(self.to_raw(x))
        return output.reshape(len(x), -1)
