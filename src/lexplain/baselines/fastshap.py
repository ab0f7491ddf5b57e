"""FastSHAP: Shapley values in one forward pass."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from .. import check
from ..core import Trial, as_target
from ..core.contracts import Features, Labels, RandomState
from ..core.splits import tenth
from ..evaluation import train_evaluator
from ..imputers.given import fitted_imputer
from ..masks import ShapleyKernel, UniformRate
from ..methods import Step
from ..networks import MLP
from .baseline import Baseline, Rows

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
        rows = Trial(x, as_target(self._target.values, self._target.outputs.real))
        self._prepare_value(rows)
        rows = Trial(x, rows.target, goal=self._grand(x, said))
        nothing = torch.zeros(min(len(x), NULL_ROWS), self.features_.count, dtype=torch.bool)
        self.null_ = self._value(x[:NULL_ROWS], nothing).mean(0)  # (c,)
        shape, count = self.features_.shape, self.features_.count
        self.network_ = copy.deepcopy(self.network) if self.network is not None else MLP(shape, count * self._target.outputs.count)
        step = Step("fastshap", self.network_, self._loss, self._loss, copies=2 * self.masks)
        parts = tenth(rows, self.seed_)
        self._train(self.network_, step, parts, self.steps)

    def _prepare_value(self, rows: Trial) -> None:
        if self.imputer is not None:
            self.imputer_ = fitted_imputer(self.imputer, rows.x, self.features_)
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
        return self._standard(self._ask(self.imputer_(x, self.features_.expand(mask)))).to(x.dtype)

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

    def _loss(self, trial: Trial) -> Tensor:
        """How far sums of values are from what subsets drawn by the Shapley kernel are worth (equation 6)."""
        assert trial.goal is not None
        drawn = ShapleyKernel(len(trial), self.features_.count, device=trial.x.device).sample((self.masks,))
        shown = torch.cat([drawn, ~drawn])  # (2 m, b, d)
        with torch.no_grad():
            copies = trial.x.expand(len(shown), *trial.x.shape).flatten(0, 1)
            worth = self._value(copies, shown.flatten(0, 1)).reshape(len(shown), len(trial), -1)  # (2 m, b, c)
        told = torch.einsum("mbd,bdc->mbc", shown.to(trial.x.dtype), self._values(trial.x, trial.goal))
        return (worth - self.null_ - told).square().mean()

    def _scores(self, rows: Rows) -> Tensor:
        assert rows.said is not None
        values = self._values(rows.x, self._grand(rows.x, self._standard(rows.said)))
        return values[torch.arange(len(rows)), :, rows.wanted] * self._target.scale
