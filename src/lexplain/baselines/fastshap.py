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

NULL_ROWS = 1000  # rows over which the value of the empty subset is averaged, because imputations are random


class FastSHAP(Baseline):
    """Train a network that returns Shapley values, with the weighted least squares of KernelSHAP as its loss.

    Values always add up to the difference between the outputs for the full row and for the empty subset (additive efficient normalisation).

    Args:
        imputer: Imputer of encoded rows, imputer class or its name; the value of a subset is the model's output for imputed rows. None:
            the output of a surrogate trained on the model's outputs for rows with hidden features, as in the paper.
        network: Network from encoded rows (b, ...) to (b, features x classes). It is copied. None: dense layers.
        steps: Optimiser steps, also of the surrogate.
        masks: Subsets per row and step. Each is used with its complement.
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
        outputs = self._target.values.reshape(len(x), -1)  # (n, c), real values standardised
        rows = Batch(x, as_target(self._target.values, self._target.outputs.real))
        self._prepare_value(rows)
        rows = Batch(x, rows.target, aux_target=self._full_value(x, outputs))
        empty = torch.zeros(min(len(x), NULL_ROWS), self.features_.count, dtype=torch.bool)
        self.null_ = self._value(x[:NULL_ROWS], empty).mean(0)  # (c,)
        shape, count = self.features_.shape, self.features_.count
        self.network_ = copy.deepcopy(self.network) if self.network is not None else MLP(shape, count * self._target.outputs.count)
        step = Step("fastshap", self.network_, self._loss, self._loss, model_rows_per_row=2 * self.masks)
        parts = tenth(rows, self.seed_)
        self._train(self.network_, step, parts, self.steps)

    def _prepare_value(self, rows: Batch) -> None:
        if self.imputer is not None:
            self.imputer_ = fit_imputer(self.imputer, rows.x, self.features_)
            return
        # Masks of all sizes: the normalisation needs the empty and the full subset, which the Shapley kernel never samples.
        train, validation = tenth(rows, self.seed_)
        self.surrogate_ = train_evaluator(
            self.features_, self._target.outputs, train, validation, masks=UniformRate, steps=self.steps, seed=self.seed_
        )

    def _value(self, x: Tensor, mask: Tensor) -> Tensor:
        """Values (n, c) of subsets (n, d) of rows (n, ...)."""
        if self.imputer is None:
            value: Tensor = self.surrogate_.probabilities(x, mask)
            return value
        return self._standard(self._query_encoded(self.imputer_(x, self.features_.expand(mask)))).to(x.dtype)

    def _standard(self, outputs: Tensor) -> Tensor:
        return (outputs - self._target.mean) / self._target.scale

    def _full_value(self, x: Tensor, outputs: Tensor) -> Tensor:
        """Values (n, c) of full rows."""
        if self.imputer is not None:
            return outputs.to(x.dtype)
        return torch.cat([self._value(part, torch.ones(len(part), self.features_.count)) for part in torch.split(x, self._max_rows())])

    def _values(self, x: Tensor, full: Tensor) -> Tensor:
        """Shapley values (b, d, c) that add up to the values of full rows minus that of the empty subset."""
        raw = self.network_(x).reshape(len(x), self.features_.count, -1)
        gap = full - self.null_ - raw.sum(1)
        values: Tensor = raw + gap[:, None] / self.features_.count
        return values

    def _loss(self, batch: Batch) -> Tensor:
        """Squared error of sums of values, on subsets sampled from the Shapley kernel (equation 6)."""
        assert batch.aux_target is not None
        sampled = ShapleyKernel(len(batch), self.features_.count, device=batch.x.device).sample((self.masks,))
        masks = torch.cat([sampled, ~sampled])  # (2 m, b, d)
        with torch.no_grad():
            copies = batch.x.expand(len(masks), *batch.x.shape).flatten(0, 1)
            values = self._value(copies, masks.flatten(0, 1)).reshape(len(masks), len(batch), -1)  # (2 m, b, c)
        sums = torch.einsum("mbd,bdc->mbc", masks.to(batch.x.dtype), self._values(batch.x, batch.aux_target))
        return (values - self.null_ - sums).square().mean()

    def _scores(self, rows: RowsToScore) -> Tensor:
        assert rows.model_output is not None
        values = self._values(rows.x, self._full_value(rows.x, self._standard(rows.model_output)))
        return values[torch.arange(len(rows)), :, rows.target_class] * self._target.scale
