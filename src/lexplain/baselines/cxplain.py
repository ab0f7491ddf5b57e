"""CXPlain: learn which features the error would miss."""

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

LEAST = 1e-7  # error that hiding a feature adds at the least, so that shares can be taken


class CXPlain(Baseline):
    """Learn each feature's share in the error that hiding it adds; scores of a row add up to 1, and come with intervals.

    The error is that on labels where `fit` has them (`fit(X, y, model=...)`, as in the paper), else that on the model's own answer.

    Args:
        imputer: an imputer of encoded rows, an imputer class or its name: what a hidden feature becomes; None: its mean.
        members: networks, each of which learns from rows resampled with replacement.
        steps: optimiser steps.
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
        # How often a member has each row: counts of a resample are the resample, and all members learn in one pass.
        counts = torch.stack([torch.randint(len(train), (len(train),)).bincount(minlength=len(train)) for _ in range(self.members)], 1)
        parts = (_beside(train, counts.float()), _beside(validation, torch.ones(len(validation), self.members)))
        self.resamples_ = counts  # (rows, members)
        self.networks_ = nn.ModuleList(MLP(self.features_.shape, self.features_.count, hidden=(64, 64)) for _ in range(self.members))
        step = Step("cxplain", self.networks_, self._loss, self._loss, model_rows_per_row=self.members)
        self._train(self.networks_, step, parts, self.steps)

    def _labels(self, y: Labels) -> Tensor:
        """What the error is taken to (n, c) or (n,)."""
        if y is None:
            return self._target.values
        values = in_classes(y, self._target.classes)
        return torch.as_tensor((values - self._target.mean) / self._target.scale, dtype=torch.float32)

    def _shares(self, x: Tensor, target: Distribution) -> Tensor:
        """Each feature's share (n, d) in the error that hiding it adds (equations 2 to 5)."""
        imputer = fit_imputer(self.imputer if self.imputer is not None else Constant(0.0), x, self.features_)
        count = self.features_.count

        def error(rows: Tensor) -> Tensor:
            said = (self._query_encoded(rows) - self._target.mean) / self._target.scale
            return cross_entropy(target, self._target.outputs.from_probabilities(said.float()))

        full = error(x)
        without = []
        for feature in range(count):
            shown = torch.ones(len(x), count, dtype=torch.bool)
            shown[:, feature] = False
            without.append(error(imputer(x, self.features_.expand(shown))))
        added = (torch.stack(without, 1) - full[:, None]).clamp_min(LEAST)
        return added / added.sum(1, keepdim=True)

    def _loss(self, batch: Batch) -> Tensor:
        """Kullback-Leibler divergence of each member's shares from those measured, row by row as often as it has the row (equation 6)."""
        assert batch.aux_target is not None
        shares, counts = batch.aux_target[:, : self.features_.count], batch.aux_target[:, self.features_.count :]
        told = self._members(batch.x).log()  # (m, b, d)
        apart = (shares * (shares.log() - told)).sum(2)  # (m, b)
        return (counts.T * apart).mean()

    def _members(self, x: Tensor) -> Tensor:
        """Each member's shares (m, b, d)."""
        return torch.stack([network(x).softmax(1) for network in self.networks_]).clamp_min(torch.finfo(x.dtype).tiny)

    def _copies(self) -> int:
        return int(self.members)

    def _scores(self, rows: RowsToScore) -> Tensor:
        return self._members(rows.x).median(0).values

    def interval(self, X: RawRows, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """The range (rows, features), low and high, that so much of the ensemble's shares lie in."""
        check.fitted(self)
        check.share_of_one(level=level)
        parts = torch.split(self.features_.encode(X).x, max(1, self._most() // self._copies()))
        told = torch.cat([self._members(part) for part in parts], 1).double().numpy()
        low, high = np.quantile(told, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


def _beside(rows: Batch, counts: Tensor) -> Batch:
    assert rows.aux_target is not None
    return Batch(rows.x, rows.target, aux_target=torch.cat([rows.aux_target, counts], 1))
