"""The explanation with the lowest infidelity."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

from .. import check
from ..core.contracts import Features, Labels, RandomState
from .baseline import Baseline, RowsToScore

RIDGE = 1e-9  # share of the mean square added to the diagonal, so that the system has a solution


class Infidelity(Baseline):
    """Coefficients that best predict the change of the output between the row and noisy mean rows: those with the lowest infidelity.

    The noisy rows do not depend on the explained row, so the model is queried on them once, in `fit`.

    Args:
        draws: Number of noisy rows.
        noise: Standard deviation of the noise, in standard deviations of the columns.
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
        self.outputs_ = self._query_encoded(noisy)  # (m, c)
        self.noisy_ = noisy.flatten(1).double()  # (m, D)

    def _scores(self, rows: RowsToScore) -> Tensor:
        assert rows.model_output is not None
        x, m = rows.x.flatten(1).double(), len(self.noisy_)
        sums, squares = self.noisy_.sum(0), self.noisy_.T @ self.noisy_  # (D,), (D, D)
        full = rows.model_output.gather(1, rows.target_class[:, None])  # (b, 1)
        outputs = self.outputs_[:, rows.target_class].T  # (b, m)
        # With I = x - noisy: sums over noisy rows of I I^T and of I times the change of the output, without a (b, m, D) tensor of all I.
        cross = x[:, :, None] * sums
        gram = m * x[:, :, None] * x[:, None, :] - cross - cross.mT + squares  # (b, D, D)
        right = full * (m * x - sums) - (x * outputs.sum(1, keepdim=True) - outputs @ self.noisy_)  # (b, D)
        level = RIDGE * gram.diagonal(dim1=1, dim2=2).mean(1)[:, None, None]
        coefficients = torch.linalg.solve(gram + level * torch.eye(x.shape[1], dtype=x.dtype), right)
        return self.features_.gather(coefficients.reshape(rows.x.shape))

    def _copies(self) -> int:
        return prod(self.features_.shape)  # the system of equations of a row has the size of this many rows
