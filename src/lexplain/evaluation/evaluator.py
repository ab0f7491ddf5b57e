"""EVAL-X and other evaluators: training, storage and loading."""

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
EVALUATOR_STEPS = 4000  # optimiser steps to train an evaluator
READER_STEPS = 1000  # optimiser steps to train a copy of it on other masks
READER_RATE = 3e-4  # learning rate of these steps
SHUFFLES_PER_ROW = 4  # random masks per validation row
Weight = Callable[[Tensor, Tensor, Tensor | None], Tensor]  # from rows, masks and valid features to the weight of each pair (n,)
Split = Callable[[Batch], tuple[Batch, Batch]]  # from rows to training rows and validation rows


class Evaluator(nn.Module):
    """Network that predicts the target from any subset of the features; it is trained on random masks only.

    It reads the row with zeros for hidden values, and the mask.

    Args:
        features: Fitted features; they expand feature masks to encoded masks.
        outputs: Type of the predictions.
        network: Network of twice the input's width. None: the default predictor network.
        masks: Masks to train on: each feature visible with probability 1/2 (EVAL-X), or `UniformRate` for masks of all sizes.

    Reference:
        Jethani et al., Have We Learned to Explain?, 2021, section 4.
    """

    def __init__(self, features: Features, outputs: Outputs, *, network: nn.Module | None = None, masks: RandomMasks = FixedRate) -> None:
        super().__init__()
        self.features, self.masks, self.imputer = features, masks, Constant(0.0)
        self.predictor = Trained(network or kind_of(features).predictor(features, outputs.count, sees_mask=True), outputs, sees_mask=True)

    def forward(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Distribution:
        """Distributions (n,) of the target, given the features of rows (n, ...) that are visible in masks (n, d)."""
        encoded = encoded_mask(self.features, mask, valid)
        predicted: Distribution = self.predictor(self.imputer(x, encoded), encoded)
        return predicted

    @torch.no_grad()
    def probabilities(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Class probabilities (b, c), or values (b, 1), from the features visible in a mask (b, d)."""
        return self.predictor.outputs.means(self(x, mask, valid))

    def fit(self, train: Batch, validation: Batch, *, steps: int | None = None, fabric: Fabric | None = None, seed: int = 0) -> Evaluator:
        """Train on random masks."""

        def sample(batch: Batch) -> Tensor:
            return self.masks(len(batch), self.features.count, valid=batch.valid, device=batch.x.device).sample()

        return self._fit(sample, train, validation, steps=steps or EVALUATOR_STEPS, rate=1e-3, fabric=fabric, seed=seed)

    def fit_reader(
        self, train: Batch, masks: Tensor, validation: Batch, validation_masks: Tensor, *, fabric: Fabric | None = None, seed: int = 0
    ) -> Evaluator:
        """A mask-aware reader: a copy trained on each row's own mask (n, d)."""
        learn, held_out = (replace(t, explainer_masks=m.bool()) for t, m in ((train, masks), (validation, validation_masks)))
        return copy.deepcopy(self)._fit(
            require_explainer_masks, learn, held_out, steps=READER_STEPS, rate=READER_RATE, fabric=fabric, seed=seed
        )

    def adapted_to(
        self, masks: Tensor, train: Batch, validation: Batch, *, weight: Weight | None = None, fabric: Fabric | None = None, seed: int = 0
    ) -> Evaluator:
        """A mask-agnostic reader: a copy trained on masks (m, d) that are shuffled between rows.

        Args:
            masks: Masks to shuffle.
            train: Training rows.
            validation: Rows that select the best epoch.
            weight: Weight of a row with its shuffled mask. None: equal weights.
            fabric: Device and precision. None: the CPU.
            seed: Seed of the random numbers.
        """
        sample = shuffled_mask_sampler(masks, fabric)
        copies = validation.take(torch.arange(len(validation)).repeat(SHUFFLES_PER_ROW))
        return copy.deepcopy(self)._fit(
            sample, train, copies, steps=READER_STEPS, rate=READER_RATE, weight=weight, fabric=fabric, seed=seed
        )

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
            losses = cross_entropy(batch.target, self(batch.x, mask, batch.valid))
            if weight is None:
                return losses.mean()
            weights = weight(batch.x, mask, batch.valid)
            return (weights * losses).sum() / weights.sum()

        step = Step("evaluator", self.predictor, loss, loss)
        warmup = kind_of(self.features).pace.warmup_steps
        parts = (train, validation)
        return train_network(self, step, parts, steps=steps, learning_rate=rate, warmup_steps=warmup, fabric=fabric, seed=seed)


def require_explainer_masks(batch: Batch) -> Tensor:
    """The masks (b, d) that an explainer chose for rows."""
    assert batch.explainer_masks is not None
    return batch.explainer_masks


def shuffled_mask_sampler(masks: Tensor, fabric: Fabric | None) -> Callable[[Batch], Tensor]:
    """A function that assigns masks (m, d) to rows at random in each call. Padding is always hidden."""
    pool = masks.to(fabric.device if fabric is not None else "cpu")

    def sample(batch: Batch) -> Tensor:
        masks_of_rows = pool[torch.randint(len(pool), (len(batch),), device=pool.device)]
        return masks_of_rows if batch.valid is None else masks_of_rows & batch.valid

    return sample


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
    """An evaluator with the default network. Train it on rows other than those it evaluates."""
    with seeded(seed):
        evaluator = Evaluator(features, outputs, masks=masks)
    return evaluator.fit(train, validation, steps=steps, fabric=fabric, seed=seed)


@dataclass(eq=False)
class Evaluators:
    """EVAL-X, and evaluators for other masks. Each is trained once, or loaded from its file, and shared."""

    features: Features
    outputs: Outputs
    _: KW_ONLY
    seed: int  # seed of weights, training and the default split
    rows: Batch | None = None  # training rows; None: those passed to `of`
    split: Split | None = None  # None: a random tenth selects the best epoch
    steps: int | None = None  # optimiser steps; None: 4,000
    network: Callable[[], nn.Module] | None = None  # builds a network; None: the default predictor network
    fabric: Fabric | None = None  # device and precision of the training; None: the CPU
    file: Callable[[RandomMasks], Path] | None = None  # from masks to the file of their evaluator; None: no files
    _ready: dict[tuple[int, RandomMasks], Evaluator] = field(default_factory=dict, init=False, repr=False)

    def of(self, learn: Batch | None = None, masks: RandomMasks = FixedRate, *, fold: int = 0) -> Evaluator:
        """The evaluator for some masks, trained on `rows` if they are set, otherwise on `learn`.

        Args:
            learn: Training rows. None: `rows`, which must then be set.
            masks: Masks to train on. Evaluators are stored by the identity of this object and by fold, so pass the same object again.
            fold: Index of `learn` among the parts of the rows.
        """
        key = (fold if self.rows is None else 0, masks)
        if key not in self._ready:
            rows = learn if self.rows is None else self.rows
            assert rows is not None
            self._ready[key] = self._load_or_train(rows, masks)
        return self._ready[key]

    def _load_or_train(self, learn: Batch, masks: RandomMasks) -> Evaluator:
        path = None if self.file is None else self.file(masks)
        with seeded(self.seed):
            network = None if self.network is None else self.network()
            evaluator = Evaluator(self.features, self.outputs, network=network, masks=masks)
        if path is not None and path.exists():
            evaluator.load_state_dict(read_file(path, FORMAT)[0])
            return evaluator.to("cpu" if self.fabric is None else self.fabric.device).eval().requires_grad_(False)
        parts = tenth(learn, self.seed) if self.split is None else self.split(learn)
        evaluator.fit(*parts, steps=self.steps, fabric=self.fabric, seed=self.seed)
        if path is not None:
            write_atomically(path, evaluator.state_dict(), {"format": FORMAT})
        return evaluator
