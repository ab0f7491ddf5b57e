"""Baselines without a model: random scores, all features, and the ground truth."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..core.contracts import Features, RandomState
from .baseline import Baseline, RowsToScore


class RandomBaseline(Baseline):
    """Score features at random, uniformly in [0, 1): a lower bound for explainers.

    Scores depend on the position of a row, not on its values, because a mask that depends on the values could encode the target.
    """

    name = "random"
    perturbation_based = False
    needs = ()
    kinds = None

    def _scores(self, rows: RowsToScore) -> Tensor:
        return torch.rand(rows.total, self.features_.count, generator=torch.Generator().manual_seed(self.seed_))[rows.position]


class AllBaseline(Baseline):
    """Keep every feature, whatever the value of `keep`: an upper bound for selections."""

    name = "all"
    perturbation_based = False
    needs = ()
    kinds = None

    def _scores(self, rows: RowsToScore) -> Tensor:
        return torch.ones(len(rows), self.features_.count)

    def _mask(self, scores: Tensor, valid: Tensor | None) -> Tensor:
        return torch.ones(scores.shape, dtype=torch.bool) if valid is None else valid


class OracleBaseline(Baseline):
    """Keep the features of the ground truth.

    Args:
        truth: Ground truth (rows, features) of the rows to explain, in their order.
        keep: Maximum number of features to keep. None: all true ones.
        features, max_rows, random_state: See `Baseline`.
    """

    name = "oracle"
    perturbation_based = False
    needs = ()
    kinds = None

    def __init__(
        self,
        truth: np.ndarray | Tensor,
        *,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.truth = truth

    def _scores(self, rows: RowsToScore) -> Tensor:
        return self.features_.feature_truth(self.truth, rows.total)[rows.position].float()

    def _mask(self, scores: Tensor, valid: Tensor | None) -> Tensor:
        true = scores > 0
        return true if self.keep is None else true & super()._mask(scores, valid)
