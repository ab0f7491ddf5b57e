"""EVAL-X: a judge that has seen random masks alone. And readers, which have seen someone's masks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from ..core import Trial, seeded
from ..imputers import Constant
from ..masks import Coins, FixedMasks
from ..methods import Phase, Step
from ..objectives import cross_entropy
from ..predictors import Outputs, Trained, network_for
from .fit import fit
from .settings import Settings, rise_for

JUDGE_STEPS = 4000  # optimiser steps of an evaluator's training
READER_STEPS = 1000  # optimiser steps in which an evaluator gets used to given masks
READER_RATE = 3e-4  # learning rate of these steps
DEALS = 4  # times that each validation row is dealt a mask
Loss = Callable[[Trial], Tensor]  # rows to a mean over them
Weight = Callable[[Tensor, Tensor], Tensor]  # rows and masks to how much each pair counts (n,)
Reader = TypeVar("Reader", bound=nn.Module)


class Evaluator(nn.Module):
    """Predict from any subset of the features without knowing who chose it.

    The input is zero-filled with the mask beside it, so that the network knows what is hidden.

    Args:
        features: feature masks to raw masks.
        outputs: what is predicted.
        network: of twice the input's width; None: the default predictor network.
        masks: what it trains on: fair coins (EVAL-X), or `UniformRate` for masks of every size.

    Reference:
        Jethani et al., Have We Learned to Explain?, 2021, section 4.
    """

    def __init__(self, features: Any, outputs: Outputs, *, network: nn.Module | None = None, masks: FixedMasks = Coins) -> None:
        super().__init__()
        self.features, self.masks, self.imputer = features, masks, Constant(0.0)
        self.predictor = Trained(network or network_for(features.shape, outputs.count, sees_mask=True), outputs, sees_mask=True)

    def forward(self, x: Tensor, mask: Tensor) -> Any:
        """The distribution (n,) of the target given what feature masks (n, d) show of rows (n, ...)."""
        raw = self.features.expand(mask)
        return self.predictor(self.imputer(x, raw), raw)

    @torch.no_grad()
    def probabilities(self, x: Tensor, mask: Tensor) -> Tensor:
        """Class probabilities (b, c), or values (b, 1), from what a mask (b, d) shows."""
        predicted = self(x, mask)
        means: Tensor = predicted.mean[:, None] if self.predictor.outputs.real else predicted.probs
        return means

    def fit(self, train: Trial, validation: Trial, *, steps: int | None = None, fabric: Fabric | None = None, seed: int = 0) -> Evaluator:
        """Learn to predict from random masks."""

        def drawn(trial: Trial) -> Tensor:
            return self.masks(len(trial), self.features.count, valid=trial.valid, device=trial.x.device).sample()

        return self._fit(drawn, train, validation, steps=steps or JUDGE_STEPS, rate=1e-3, fabric=fabric, seed=seed)

    def reader(
        self, train: Trial, masks: Tensor, validation: Trial, validation_masks: Tensor, *, fabric: Fabric | None = None, seed: int = 0
    ) -> Evaluator:
        """A copy that has got used to given masks (n, d), and so knows what they tell by being chosen."""

        def given(trial: Trial) -> Tensor:
            assert trial.context is not None
            return trial.context.bool()

        shown, judged = (replace(t, context=m.float()) for t, m in ((train, masks), (validation, validation_masks)))
        return copy.deepcopy(self)._fit(given, shown, judged, steps=READER_STEPS, rate=READER_RATE, fabric=fabric, seed=seed)

    def used_to(
        self, masks: Tensor, train: Trial, validation: Trial, *, weight: Weight | None = None, fabric: Fabric | None = None, seed: int = 0
    ) -> Evaluator:
        """A copy that has got used to masks like these (m, d), dealt to rows anew each time: it knows what they look like, not for whom.

        Args:
            masks: to deal.
            train: rows to learn from.
            validation: rows to choose the best epoch by.
            weight: how much a row with a dealt mask counts; None: all alike.
            fabric: device and precision; None: the CPU.
            seed: of every draw.
        """
        pool = masks.to(fabric.device if fabric is not None else "cpu")

        def dealt(trial: Trial) -> Tensor:
            return pool[torch.randint(len(pool), (len(trial),), device=pool.device)]

        judged = validation.take(torch.arange(len(validation)).repeat(DEALS))
        return copy.deepcopy(self)._fit(dealt, train, judged, steps=READER_STEPS, rate=READER_RATE, weight=weight, fabric=fabric, seed=seed)

    def _fit(
        self,
        masks: Callable[[Trial], Tensor],
        train: Trial,
        validation: Trial,
        *,
        steps: int,
        rate: float,
        weight: Weight | None = None,
        fabric: Fabric | None,
        seed: int,
    ) -> Evaluator:
        def loss(trial: Trial) -> Tensor:
            mask = masks(trial)
            each = cross_entropy(trial.target, self(trial.x, mask))
            if weight is None:
                return each.mean()
            counts = weight(trial.x, mask)
            return (counts * each).sum() / counts.sum()

        batch, epochs = batch_and_epochs(len(train), steps)
        rise = rise_for(self.features.shape)
        settings = Settings(epochs=epochs, batch_size=batch, learning_rate=rate, rise=rise, patience=max(10, epochs // 4), seed=seed)
        phase = Phase("evaluator", (Step("predictor", self.predictor, loss, loss),))
        fit(self, [phase], train, validation, settings, fabric=fabric)
        self.eval().requires_grad_(False)
        return self


def batch_and_epochs(rows: int, steps: int) -> tuple[int, int]:
    """Rows of an optimiser step, and passes over so many rows that make about so many steps."""
    batch = min(256, max(32, rows // 10))
    return batch, max(5, round(steps * batch / rows))


def train_evaluator(
    features: Any,
    outputs: Outputs,
    train: Trial,
    validation: Trial,
    *,
    masks: FixedMasks = Coins,
    network: nn.Module | None = None,
    steps: int | None = None,
    fabric: Fabric | None = None,
    seed: int = 0,
) -> Evaluator:
    """An evaluator of its own network, trained on random masks of rows that it will not judge."""
    with seeded(seed):
        evaluator = Evaluator(features, outputs, network=network, masks=masks)
    return evaluator.fit(train, validation, steps=steps, fabric=fabric, seed=seed)
