"""FastSHAP: Shapley values in one forward pass."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from .. import check
from ..core import Batch, as_target
from ..core.contracts import Features, Labels, RandomState
from ..core.splits import tenth
from ..evaluation import train_evaluator
from ..imputers.given import fit_imputer
from ..masks import ShapleyKernel, UniformRate
from ..methods import Step
from ..networks import MLP
from .baseline import Baseline, RowsToScore

NULL_ROWS = 1000  # rows over which the answer to nothing is averaged, where what is hidden is drawn


class FastSHAP(Baseline):
    """Learn a network whose answers are Shapley values: the weighted least squares of KernelSHAP, descended for all rows at once.

    Values always add up to the answer to the full row less the answer to nothing (additive efficient normalisation).

    Args:
        imputer: an imputer of encoded rows, an imputer class or its name: a subset is worth what the model says of filled rows. None:
            what a surrogate says that has learned the model's answers from rows with features missing, as in the paper.
        network: encoded rows (b, ...) to (b, features x classes) numbers; None: dense layers. It is copied.
        steps: optimiser steps, of the surrogate too.
        masks: subsets a row and step; each comes with its complement.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Jethani et al., FastSHAP: Real-Time Shapley Value Estimation, 2022, equations 6 to 8, algorithm 1, section 3.3 (paired sampling).
    """

    name = "fastshap"

    def __init__(
        self,
        *,
        imputer: str | float | nn.Module | type[nn.Module] | None = None,
        network: nn.Module | None = None,
        steps: int = 3000,
        masks: int = 8,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.imputer = imputer
        self.network = network
        self.steps = steps
        self.masks = masks

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.enough_rows(len(x))
        check.counts(steps=self.steps, masks=self.masks)
        said = self._target.values.reshape(len(x), -1)  # (n, c), standardised where it is a real value
        rows = Batch(x, as_target(self._target.values, self._target.outputs.real))
        self._prepare_value(rows)
        rows = Batch(x, rows.target, aux_target=self._grand(x, said))
        nothing = torch.zeros(min(len(x), NULL_ROWS), self.features_.count, dtype=torch.bool)
        self.null_ = self._value(x[:NULL_ROWS], nothing).mean(0)  # (c,)
        shape, count = self.features_.shape, self.features_.count
        self.network_ = copy.deepcopy(self.network) if self.network is not None else MLP(shape, count * self._target.outputs.count)
        step = Step("fastshap", self.network_, self._loss, self._loss, model_rows_per_row=2 * self.masks)
        parts = tenth(rows, self.seed_)
        self._train(self.network_, step, parts, self.steps)

    def _prepare_value(self, rows: Batch) -> None:
        if self.imputer is not None:
            self.imputer_ = fit_imputer(self.imputer, rows.x, self.features_)
            return
        # Masks of every size, the empty and the full one too: Shapley-kernel masks are never either, which the normalisation relies on.
        train, validation = tenth(rows, self.seed_)
        self.surrogate_ = train_evaluator(
            self.features_, self._target.outputs, train, validation, masks=UniformRate, steps=self.steps, seed=self.seed_
        )

    def _value(self, x: Tensor, mask: Tensor) -> Tensor:
        """What subsets (n, d) of rows (n, ...) are worth (n, c)."""
        if self.imputer is None:
            worth: Tensor = self.surrogate_.probabilities(x, mask)
            return worth
        return self._standard(self._query_encoded(self.imputer_(x, self.features_.expand(mask)))).to(x.dtype)

    def _standard(self, said: Tensor) -> Tensor:
        return (said - self._target.mean) / self._target.scale

    def _grand(self, x: Tensor, said: Tensor) -> Tensor:
        """What full rows are worth (n, c)."""
        if self.imputer is not None:
            return said.to(x.dtype)
        return torch.cat([self._value(part, torch.ones(len(part), self.features_.count)) for part in torch.split(x, self._most())])

    def _values(self, x: Tensor, grand: Tensor) -> Tensor:
        """Shapley values (b, d, c) that add up to what full rows are worth more than nothing."""
        raw = self.network_(x).reshape(len(x), self.features_.count, -1)
        gap = grand - self.null_ - raw.sum(1)
        values: Tensor = raw + gap[:, None] / self.features_.count
        return values

    def _loss(self, batch: Batch) -> Tensor:
        """How far sums of values are from what subsets drawn by the Shapley kernel are worth (equation 6)."""
        assert batch.aux_target is not None
        drawn = ShapleyKernel(len(batch), self.features_.count, device=batch.x.device).sample((self.masks,))
        shown = torch.cat([drawn, ~drawn])  # (2 m, b, d)
        with torch.no_grad():
            copies = batch.x.expand(len(shown), *batch.x.shape).flatten(0, 1)
            worth = self._value(copies, shown.flatten(0, 1)).reshape(len(shown), len(batch), -1)  # (2 m, b, c)
        told = torch.einsum("mbd,bdc->mbc", shown.to(batch.x.dtype), self._values(batch.x, batch.aux_target))
        return (worth - self.null_ - told).square().mean()

    def _scores(self, rows: RowsToScore) -> Tensor:
        assert rows.model_output is not None
        values = self._values(rows.x, self._grand(rows.x, self._standard(rows.model_output)))
        return values[torch.arange(len(rows)), :, rows.target_class] * self._target.scale
