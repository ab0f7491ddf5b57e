"""EVAL-X, and the one place where judges of explanations are trained, kept and read."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ..core import Batch, Outputs, seeded
from ..core.contracts import Features
from ..core.files import read_file, write_atomically
from ..core.kinds import kind_of
from ..core.splits import tenth
from ..features import encoded_mask
from ..imputers import Constant
from ..masks import FixedRate, RandomMasks
from ..methods import Step
from ..models import Trained
from ..objectives import cross_entropy
from ..training.network import train_network

if TYPE_CHECKING:
    from lightning_fabric import Fabric

FORMAT = "lexplain.judge/1"
EVALUATOR_STEPS = 4000  # optimiser steps of an evaluator's training
READER_STEPS = 1000  # optimiser steps in which an evaluator adapts to given masks
READER_RATE = 3e-4  # learning rate of these steps
SHUFFLES_PER_ROW = 4  # times that each validation row is dealt a mask
Weight = Callable[[Tensor, Tensor, Tensor | None], Tensor]  # rows, masks and what is valid, to how much each pair counts (n,)
Split = Callable[[Batch], tuple[Batch, Batch]]  # rows to those to learn from, and those to choose the best epoch on


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

    def __init__(self, features: Features, outputs: Outputs, *, network: nn.Module | None = None, masks: RandomMasks = FixedRate) -> None:
        super().__init__()
        self.features, self.masks, self.imputer = features, masks, Constant(0.0)
        self.predictor = Trained(network or kind_of(features).predictor(features, outputs.count, sees_mask=True), outputs, sees_mask=True)

    def forward(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Distribution:
        """The distribution (n,) of the target given what feature masks (n, d) show of rows (n, ...)."""
        raw = encoded_mask(self.features, mask, valid)
        predicted: Distribution = self.predictor(self.imputer(x, raw), raw)
        return predicted

    @torch.no_grad()
    def probabilities(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Class probabilities (b, c), or values (b, 1), from what a mask (b, d) shows."""
        return self.predictor.outputs.means(self(x, mask, valid))

    def fit(self, train: Batch, validation: Batch, *, steps: int | None = None, fabric: Fabric | None = None, seed: int = 0) -> Evaluator:
        """Learn to predict from random masks."""

        def drawn(batch: Batch) -> Tensor:
            return self.masks(len(batch), self.features.count, valid=batch.valid, device=batch.x.device).sample()

        return self._fit(drawn, train, validation, steps=steps or EVALUATOR_STEPS, rate=1e-3, fabric=fabric, seed=seed)

    def fit_reader(
        self, train: Batch, masks: Tensor, validation: Batch, validation_masks: Tensor, *, fabric: Fabric | None = None, seed: int = 0
    ) -> Evaluator:
        """A copy that has adapted to given masks (n, d), and so knows what they tell by being chosen."""
        shown, judged = (replace(t, explainer_masks=m.bool()) for t, m in ((train, masks), (validation, validation_masks)))
        return copy.deepcopy(self)._fit(
            require_explainer_masks, shown, judged, steps=READER_STEPS, rate=READER_RATE, fabric=fabric, seed=seed
        )

    def adapted_to(
        self, masks: Tensor, train: Batch, validation: Batch, *, weight: Weight | None = None, fabric: Fabric | None = None, seed: int = 0
    ) -> Evaluator:
        """A copy that has adapted to masks like these (m, d), dealt to rows anew each time: it knows what they look like, not for whom.

        Args:
            masks: to deal.
            train: rows to learn from.
            validation: rows to choose the best epoch by.
            weight: how much a row with a dealt mask counts; None: all alike.
            fabric: device and precision; None: the CPU.
            seed: of every draw.
        """
        dealt = shuffled_mask_sampler(masks, fabric)
        judged = validation.take(torch.arange(len(validation)).repeat(SHUFFLES_PER_ROW))
        return copy.deepcopy(self)._fit(dealt, train, judged, steps=READER_STEPS, rate=READER_RATE, weight=weight, fabric=fabric, seed=seed)

    def _fit(
        self,
        masks: Callable[[Batch], Tensor],
        train: Batch,
        validation: Batch,
        *,
        steps: int,
        rate: float,
        weight: Weight | None = None,
        fabric: Fabric | None,
        seed: int,
    ) -> Evaluator:
        def loss(batch: Batch) -> Tensor:
            mask = masks(batch)
            each = cross_entropy(batch.target, self(batch.x, mask, batch.valid))
            if weight is None:
                return each.mean()
            counts = weight(batch.x, mask, batch.valid)
            return (counts * each).sum() / counts.sum()

        step = Step("evaluator", self.predictor, loss, loss)
        warmup = kind_of(self.features).pace.warmup_steps
        parts = (train, validation)
        return train_network(self, step, parts, steps=steps, learning_rate=rate, warmup_steps=warmup, fabric=fabric, seed=seed)


def require_explainer_masks(batch: Batch) -> Tensor:
    """The masks (b, d) that were chosen for rows."""
    assert batch.explainer_masks is not None
    return batch.explainer_masks


def shuffled_mask_sampler(masks: Tensor, fabric: Fabric | None) -> Callable[[Batch], Tensor]:
    """A function that deals masks (m, d) to rows at random, anew at each call; padding is never shown."""
    pool = masks.to(fabric.device if fabric is not None else "cpu")

    def deal(batch: Batch) -> Tensor:
        dealt = pool[torch.randint(len(pool), (len(batch),), device=pool.device)]
        return dealt if batch.valid is None else dealt & batch.valid

    return deal


def train_evaluator(
    features: Features,
    outputs: Outputs,
    train: Batch,
    validation: Batch,
    *,
    masks: RandomMasks = FixedRate,
    steps: int | None = None,
    fabric: Fabric | None = None,
    seed: int = 0,
) -> Evaluator:
    """An evaluator of the default network, trained on random masks of rows that it will not judge."""
    with seeded(seed):
        evaluator = Evaluator(features, outputs, masks=masks)
    return evaluator.fit(train, validation, steps=steps, fabric=fabric, seed=seed)


@dataclass(eq=False)
class Evaluators:
    """EVAL-X, and judges that learned on other masks: each is trained once, or read from its file, and shared."""

    features: Features
    outputs: Outputs
    _: KW_ONLY
    seed: int  # of weights, training and the default split
    rows: Batch | None = None  # to learn from; None: those given to `of`
    split: Split | None = None  # None: a tenth, drawn by the seed, chooses the best epoch
    steps: int | None = None  # of the optimiser; None: 4,000
    network: Callable[[], nn.Module] | None = None  # builds a network; None: the default predictor network
    fabric: Fabric | None = None  # device and precision of the training; None: the CPU
    file: Callable[[RandomMasks], Path] | None = None  # masks to the file that keeps their judge; None: nothing is kept
    _ready: dict[tuple[int, RandomMasks], Evaluator] = field(default_factory=dict, init=False, repr=False)

    def of(self, learn: Batch | None = None, masks: RandomMasks = FixedRate, *, fold: int = 0) -> Evaluator:
        """The judge of some masks, which learned from `rows` if they are given, else from `learn`.

        Args:
            learn: Rows to learn from. None: `rows`, which must then be given.
            masks: Masks to learn on. Judges are kept by the identity of these and of the fold, so pass the same object again.
            fold: Which part of the rows `learn` is.
        """
        place = (fold if self.rows is None else 0, masks)
        if place not in self._ready:
            rows = learn if self.rows is None else self.rows
            assert rows is not None
            self._ready[place] = self._read_or_trained(rows, masks)
        return self._ready[place]

    def _read_or_trained(self, learn: Batch, masks: RandomMasks) -> Evaluator:
        path = None if self.file is None else self.file(masks)
        with seeded(self.seed):
            network = None if self.network is None else self.network()
            judge = Evaluator(self.features, self.outputs, network=network, masks=masks)
        if path is not None and path.exists():
            judge.load_state_dict(read_file(path, FORMAT)[0])
            return judge.to("cpu" if self.fabric is None else self.fabric.device).eval().requires_grad_(False)
        parts = tenth(learn, self.seed) if self.split is None else self.split(learn)
        judge.fit(*parts, steps=self.steps, fabric=self.fabric, seed=self.seed)
        if path is not None:
            write_atomically(path, judge.state_dict(), {"format": FORMAT})
        return judge
