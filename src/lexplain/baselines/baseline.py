"""What every baseline is: scores of rows, and the features of the largest ones."""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from torch import Tensor, nn

from .. import check
from ..core import Explanation, seeded
from ..features import features_for
from ..predictors import Outputs, Target, from_labels, from_model

if TYPE_CHECKING:
    from typing import Self

MAX_ROWS = 100_000  # model rows in flight unless told


@dataclass(frozen=True)
class Rows:
    """The rows that a baseline is to score."""

    x: Tensor  # (b, ...) encoded
    raw: Any  # (b, ...) as they were given: an array or a DataFrame
    said: Tensor | None  # (b, c) what the model says of them; None where there is no model
    wanted: Tensor  # (b,) the class to explain
    place: Tensor  # (b,) where they stand among all that are explained
    total: int  # how many are explained

    def __len__(self) -> int:
        return len(self.x)

    def take(self, at: slice) -> Rows:
        """Some of the rows."""
        raw = self.raw.iloc[at] if isinstance(self.raw, pd.DataFrame) else self.raw[at]
        said = None if self.said is None else self.said[at]
        return replace(self, x=self.x[at], raw=raw, said=said, wanted=self.wanted[at], place=self.place[at])


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
        seconds_: how long `fit` took.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("model",)  # what fit must be given, any of: "model", "network" (a model with gradients), "y"

    tables_only: ClassVar[bool] = False  # whether images are refused

    def __init__(self, *, keep: int | None = None, features: Any = None, max_rows: int | None = None, random_state: Any = 0) -> None:
        self.keep = keep
        self.features = features
        self.max_rows = max_rows
        self.random_state = random_state

    # ---- for leaves ----

    @abstractmethod
    def _scores(self, rows: Rows) -> Tensor:
        """Signed scores (b, d) of the wanted class; ranked by their absolute value."""

    def _learn(self, x: Tensor, y: Any) -> None:
        """Learn what is needed from encoded training rows (n, ...)."""

    def _copies(self) -> int:
        """Model rows in flight for each row explained."""
        return 1

    def _say(self, rows: Any, x: Tensor) -> Tensor | None:
        """What is explained (b, c): the model's answer to raw rows."""
        return None if self.function_ is None else self._asked(rows)

    def _predict(self, x: Tensor) -> Callable[[], Tensor] | None:
        """How to predict from encoded rows without the model, for those that can."""
        return None

    # ---- the face ----

    def fit(self, X: Any, y: Any = None, *, model: Any = None) -> Self:
        """Remember the model and the training rows, and learn what the method learns.

        Args:
            X: (rows, columns) numbers, or a DataFrame.
            y: labels or values; with a model only CXPlain heeds them.
            model: a scikit-learn estimator, an `nn.Module`, or a function of rows to class probabilities or values.
        """
        began = time.perf_counter()
        blank = self.features if self.features is not None else features_for(X)
        images = getattr(blank, "images", False)
        (check.image_array if images else check.table)(X)
        check.eats_images(self.name, images and self.tables_only)
        check.baseline_given(self.name, self.needs, y, model)
        check.counts(max_rows=self.max_rows)
        features = copy.deepcopy(blank).fit(X)
        check.enough_features(features.count)
        self.k_ = check.kept_features(self.keep, features.count)
        if y is not None:
            check.same_length(X, check.target_values(y))
        if isinstance(model, nn.Module):
            check.eaten_by_network(getattr(features, "categorical", ()))
        self.features_, self.method_, self.model_, self.model_rows_ = features, self.name, model, 0
        self.n_features_in_ = len(features.columns)
        self.seed_ = _seed(self.random_state)
        self.target_, self.function_ = self._target(X, y, model)
        with seeded(self.seed_):
            self._learn(features.encode(X), y)
        self.seconds_ = time.perf_counter() - began
        return self

    def _target(self, X: Any, y: Any, model: Any) -> tuple[Target | None, Callable[[Any], Any] | None]:
        if model is None:
            return None if y is None else from_labels(y), None
        target, ask = from_model(model, X)
        self.model_rows_ += ask.rows
        return target, ask.function

    def explain(self, X: Any, *, target: Any = None) -> Explanation:
        """Score the features of each row for its predicted class.

        Args:
            X: rows with the columns of the fit.
            target: (rows,) or one label: the class to explain; None: the predicted one.
        """
        check.fitted(self)
        x = self.features_.encode(X)
        raw = X if isinstance(X, pd.DataFrame) else check.as_array(X)
        classes = None if self.target_ is None else self.target_.classes
        said = self._say(raw, x)
        asked = None if said is None else said.argmax(1)
        if target is not None:
            asked = torch.as_tensor(check.known_classes(target, classes, len(x)))
        wanted = asked if asked is not None else torch.zeros(len(x), dtype=torch.long)
        rows = Rows(x, raw, said, wanted, torch.arange(len(x)), len(x))
        step = max(1, self._most() // self._copies())
        with seeded(self.seed_):
            scores = torch.cat([self._scores(rows.take(slice(at, at + step))) for at in range(0, len(x), step)]).detach().float().cpu()
        return Explanation(
            scores=scores,
            mask=self._mask(scores),
            feature_names=self.features_.names,
            data=raw,
            method=self.name,
            features=self.features_,
            asked=asked,
            predict=self._predict(x),
            classes=None if classes is None else tuple(classes),
        )

    __call__ = explain

    def transform(self, X: Any) -> np.ndarray:
        """The mask (rows, features): True = visible."""
        mask: np.ndarray = self.explain(X).mask.numpy()
        return mask

    # ---- the model ----

    @property
    def _outputs(self) -> Outputs:
        assert self.target_ is not None  # whoever reads it needs a model
        return self.target_.outputs

    def _most(self) -> int:
        return self.max_rows or MAX_ROWS

    def _mask(self, scores: Tensor) -> Tensor:
        """The k features (b, d) of the largest absolute score."""
        best = scores.abs().argsort(dim=1, descending=True, stable=True)[:, : self.k_]
        return torch.zeros(scores.shape, dtype=torch.bool).scatter(1, best, True)

    def _ask(self, x: Tensor) -> Tensor:
        """What the model says (n, c) of encoded rows."""
        return self._asked(self.features_.decode(x))

    def _asked(self, rows: Any) -> Tensor:
        """What the model says (n, c) of raw rows, as many at a time as may be in flight: class probabilities, or values in their units."""
        assert self.function_ is not None
        answers = []
        for at in range(0, len(rows), self._most()):
            part = rows.iloc[at : at + self._most()] if isinstance(rows, pd.DataFrame) else rows[at : at + self._most()]
            answers.append(check.model_output(check.as_array(self.function_(part)), len(part)).reshape(len(part), -1))
            check.as_many_outputs(answers[-1].shape[1], self._outputs.count)
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


def _seed(random_state: Any) -> int:
    return int(random_state) if isinstance(random_state, (int, np.integer)) else int(check_random_state(random_state).randint(2**31 - 1))
