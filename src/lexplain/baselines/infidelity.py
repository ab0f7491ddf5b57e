"""The explanation that a measure of infidelity asks for."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

from .. import check
from ..core.contracts import Features, Labels, RandomState
from .baseline import Baseline, RowsToScore

RIDGE = 1e-9  # share of the mean square that keeps directions without noise solvable


class Infidelity(Baseline):
    """The slopes that best foretell how the answer falls on the way to a noisy mean row: the least infidelity there is.

    The noisy rows do not depend on the row explained, so that the model is asked for them once, in `fit`.

    Args:
        draws: noisy rows.
        noise: their standard deviation, in standard deviations of the columns.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Yeh et al., On the (In)fidelity and Sensitivity of Explanations, 2019, proposition 3.1 and section 3.3 (noisy baseline).
    """

    name = "infidelity"

    def __init__(
        self,
        *,
        draws: int = 2000,
        noise: float = 0.2,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.draws = draws
        self.noise = noise

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.counts(draws=self.draws)
        check.positive(noise=self.noise)
        noisy = self.noise * torch.randn(self.draws, *x.shape[1:])  # (m, ...)
        self.answers_ = self._query_encoded(noisy)  # (m, c)
        self.noisy_ = noisy.flatten(1).double()  # (m, D)

    def _scores(self, rows: RowsToScore) -> Tensor:
        assert rows.model_output is not None
        x, m = rows.x.flatten(1).double(), len(self.noisy_)
        sums, squares = self.noisy_.sum(0), self.noisy_.T @ self.noisy_  # (D,), (D, D)
        falls = rows.model_output.gather(1, rows.target_class[:, None])  # (b, 1)
        answers = self.answers_[:, rows.target_class].T  # (b, m)
        # With I = x - noisy: the sums over draws of I I^T and of I times the fall of the answer, without the (b, m, D) of all I.
        cross = x[:, :, None] * sums
        gram = m * x[:, :, None] * x[:, None, :] - cross - cross.mT + squares  # (b, D, D)
        right = falls * (m * x - sums) - (x * answers.sum(1, keepdim=True) - answers @ self.noisy_)  # (b, D)
        level = RIDGE * gram.diagonal(dim1=1, dim2=2).mean(1)[:, None, None]
        slopes = torch.linalg.solve(gram + level * torch.eye(x.shape[1], dtype=x.dtype), right)
        return self.features_.gather(slopes.reshape(rows.x.shape))

    def _copies(self) -> int:
        return prod(self.features_.shape)  # a row's system is so many rows large
