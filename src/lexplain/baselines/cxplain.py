"""CXPlain: predict how much the error increases without each feature."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from .. import check
from ..core import Batch, as_target
from ..core.contracts import Features, Labels, RandomState, RawRows
from ..core.splits import tenth
from ..imputers import Constant
from ..imputers.given import fit_imputer
from ..methods import Step
from ..models.target import in_classes
from ..networks import MLP
from ..objectives import cross_entropy
from .baseline import Baseline, RowsToScore

MIN_INCREASE = 1e-7  # minimum increase of the error when a feature is hidden, so that shares are defined


class CXPlain(Baseline):
    """Predict each feature's share of the increase of the error when features are hidden. Scores of a row add up to 1 and have intervals.

    The error is that on the labels, if `fit` has them (`fit(X, y, model=...)`, as in the paper), otherwise that on the model's outputs.

    Args:
        imputer: Imputer of encoded rows, imputer class or its name, for the hidden feature. None: its mean.
        members: Number of networks, each trained on rows resampled with replacement.
        steps: Optimiser steps.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Schwab and Karlen, CXPlain: Causal Explanations for Model Interpretation under Uncertainty, 2019, equations 2 to 6, section 3.2.
    """

    name = "cxplain"

    def __init__(
        self,
        *,
        imputer: str | float | nn.Module | type[nn.Module] | None = None,
        members: int = 10,
        steps: int = 2000,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.imputer = imputer
        self.members = members
        self.steps = steps

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.enough_rows(len(x))
        check.counts(members=self.members, steps=self.steps)
        target = as_target(self._labels(y), self._target.outputs.real)
        self.shares_ = self._shares(x, target)
        train, validation = tenth(Batch(x, target, aux_target=self.shares_), self.seed_)
        # How often each row is in the resample of a member: with these counts as weights, one pass trains all members.
        counts = torch.stack([torch.randint(len(train), (len(train),)).bincount(minlength=len(train)) for _ in range(self.members)], 1)
        parts = (_with_counts(train, counts.float()), _with_counts(validation, torch.ones(len(validation), self.members)))
        self.resamples_ = counts  # (rows, members)
        self.networks_ = nn.ModuleList(MLP(self.features_.shape, self.features_.count, hidden=(64, 64)) for _ in range(self.members))
        step = Step("cxplain", self.networks_, self._loss, self._loss, model_rows_per_row=self.members)
        self._train(self.networks_, step, parts, self.steps)

    def _labels(self, y: Labels) -> Tensor:
        """The target (n, c) or (n,) of the error."""
        if y is None:
            return self._target.values
        values = in_classes(y, self._target.classes)
        return torch.as_tensor((values - self._target.mean) / self._target.scale, dtype=torch.float32)

    def _shares(self, x: Tensor, target: Distribution) -> Tensor:
        """Each feature's share (n, d) of the increase of the error when it is hidden (equations 2 to 5)."""
        imputer = fit_imputer(self.imputer if self.imputer is not None else Constant(0.0), x, self.features_)
        count = self.features_.count

        def error(rows: Tensor) -> Tensor:
            outputs = (self._query_encoded(rows) - self._target.mean) / self._target.scale
            return cross_entropy(target, self._target.outputs.from_probabilities(outputs.float()))

        full = error(x)
        without = []
        for feature in range(count):
            mask = torch.ones(len(x), count, dtype=torch.bool)
            mask[:, feature] = False
            without.append(error(imputer(x, self.features_.expand(mask))))
        added = (torch.stack(without, 1) - full[:, None]).clamp_min(MIN_INCREASE)
        return added / added.sum(1, keepdim=True)

    def _loss(self, batch: Batch) -> Tensor:
        """Kullback-Leibler divergence of each member's shares from the measured ones, weighted by the counts of rows (equation 6)."""
        assert batch.aux_target is not None
        shares, counts = batch.aux_target[:, : self.features_.count], batch.aux_target[:, self.features_.count :]
        predicted = self._members(batch.x).log()  # (m, b, d)
        divergence = (shares * (shares.log() - predicted)).sum(2)  # (m, b)
        return (counts.T * divergence).mean()

    def _members(self, x: Tensor) -> Tensor:
        """The shares (m, b, d) that the members predict."""
        return torch.stack([network(x).softmax(1) for network in self.networks_]).clamp_min(torch.finfo(x.dtype).tiny)

    def _copies(self) -> int:
        return int(self.members)

    def _scores(self, rows: RowsToScore) -> Tensor:
        return self._members(rows.x).median(0).values

    def interval(self, X: RawRows, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds (rows, features) of the central interval of the members' shares.

        Args:
            X: Rows with the same columns as in `fit`.
            level: Share of the members inside the interval.
        """
        check.fitted(self)
        check.share_of_one(level=level)
        parts = torch.split(self.features_.encode(X).x, max(1, self._max_rows() // self._copies()))
        shares = torch.cat([self._members(part) for part in parts], 1).double().numpy()
        low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


def _with_counts(rows: Batch, counts: Tensor) -> Batch:
    assert rows.aux_target is not None
    return Batch(rows.x, rows.target, aux_target=torch.cat([rows.aux_target, counts], 1))
