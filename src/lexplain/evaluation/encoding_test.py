"""The encoding test: compare a mask-aware and a mask-agnostic reader of the same masks."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.nn.functional import softplus

from ..core import Batch, target_values
from ..core.rows import MAX_ROWS
from ..core.splits import tenth_at
from ..features import encoded_mask
from ..methods import Step
from ..objectives import cross_entropy
from ..training.network import Loss, Network, train_network
from . import evaluator as evaluators
from .evaluator import Evaluator, require_explainer_masks, shuffled_mask_sampler

if TYPE_CHECKING:
    from lightning_fabric import Fabric

STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)  # candidate weights of the class odds; 0 is best if they do not generalise
MAX_LOG_WEIGHT = 3.0  # log of the maximum weight, so that a few rows do not dominate


class MaskDensityRatio(nn.Module):
    """Classifier that predicts, from a mask and the visible values, whether the mask is the row's own or a shuffled one.

    Its odds estimate the ratio of the densities of visible values under own and under shuffled masks.

    Reference:
        Sugiyama, Suzuki and Kanamori, Density Ratio Estimation in Machine Learning, 2012, chapter 4 (odds as a ratio of densities).
    """

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__()
        self.features, self.imputer, self.predictor = evaluator.features, evaluator.imputer, copy.deepcopy(evaluator.predictor)

    def forward(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Log-odds (n,) that masks (n, d) are the rows' own."""
        return _network_output(self, self.predictor, x, mask, valid).mean(1)

    @torch.no_grad()
    def weight(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Weights (n,) under which shuffled masks show the same distribution of values as own masks."""
        return self.forward(x, mask, valid).clamp(max=MAX_LOG_WEIGHT).exp()

    def fit(
        self, train: Batch, masks: Tensor, validation: Batch, validation_masks: Tensor, *, fabric: Fabric | None, seed: int
    ) -> MaskDensityRatio:
        """Train on the rows' own masks (n, d)."""
        shuffled = shuffled_mask_sampler(masks, fabric)

        def loss(batch: Batch) -> Tensor:
            return (
                softplus(-self(batch.x, require_explainer_masks(batch), batch.valid))
                + softplus(self(batch.x, shuffled(batch), batch.valid))
            ).mean()

        step = Step("mask density", self.predictor, loss, loss, model_rows_per_row=2)
        return _train(self, step, (train, masks), (validation, validation_masks), fabric=fabric, seed=seed)


class MaskAwareReader(nn.Module):
    """The mask-agnostic reader, with class probabilities corrected for the choice of the mask.

    A network sees the visible values, the mask and the class, and predicts whether the mask is the row's own. Its odds g are
    p(y | values, own mask) / p(y | values) up to a factor without y. So p(y | values) g(y), normalised, is the mask-aware prediction.
    If masks encode nothing, g does not depend on y and both readers make the same errors. A reader trained separately could predict
    better only because its task is easier, which would look like encoding.

    Args:
        mask_agnostic: Mask-agnostic reader of classes, not of real values.
        density: Log-odds that a mask is the row's own, given the values. Only the part that depends on the class is trained here.
    """

    def __init__(self, mask_agnostic: Evaluator, density: MaskDensityRatio) -> None:
        super().__init__()
        self.mask_agnostic, self.density, self.strength = mask_agnostic, density, 1.0
        self.start, self.learned = (copy.deepcopy(mask_agnostic.predictor) for _ in range(2))  # their difference is 0 before training

    def forward(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Categorical:
        """Distributions (n,) of the class, given rows (n, ...) with their own masks (n, d)."""
        return Categorical(
            logits=self.mask_agnostic(x, mask, valid).logits + self.strength * self.odds(x, mask, valid), validate_args=False
        )

    def odds(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Contribution (n, c) of each class to the log-odds that the mask is the row's own."""
        with torch.no_grad():
            before = _network_output(self.mask_agnostic, self.start, x, mask, valid)
        return _network_output(self.mask_agnostic, self.learned, x, mask, valid) - before

    def fit(
        self, train: Batch, masks: Tensor, validation: Batch, validation_masks: Tensor, *, fabric: Fabric | None, seed: int
    ) -> MaskAwareReader:
        """Train on the rows' own masks (n, d). The validation rows select the best epoch and strength."""
        shuffled = shuffled_mask_sampler(masks, fabric)

        def odds(batch: Batch, mask: Tensor) -> Tensor:
            with torch.no_grad():
                by_values: Tensor = self.density(batch.x, mask, batch.valid)[:, None]
            return by_values + self.odds(batch.x, mask, batch.valid)

        def loss(batch: Batch) -> Tensor:
            losses = softplus(-odds(batch, require_explainer_masks(batch))) + softplus(odds(batch, shuffled(batch)))  # (b, c)
            return (target_values(batch.target) * losses).sum(1).mean()

        def validation_loss(batch: Batch) -> Tensor:
            return cross_entropy(batch.target, self(batch.x, require_explainer_masks(batch), batch.valid)).mean()

        step = Step("mask-aware reader", self.learned, loss, validation_loss, model_rows_per_row=2)
        _train(self, step, (train, masks), (validation, validation_masks), fabric=fabric, seed=seed)
        self._choose_strength(replace(validation, explainer_masks=validation_masks.bool()), validation_loss)
        return self

    @torch.no_grad()
    def _choose_strength(self, validation: Batch, validation_loss: Loss) -> None:
        rows, losses = validation.to(next(self.parameters()).device), {}
        for self.strength in STRENGTHS:
            losses[self.strength] = float(validation_loss(rows))
        self.strength = min(losses, key=lambda strength: losses[strength])


def _network_output(reader: Evaluator | MaskDensityRatio, predictor: nn.Module, x: Tensor, mask: Tensor, valid: Tensor | None) -> Tensor:
    """Outputs (n, c) of a reader's network, before they are read as a distribution."""
    encoded = encoded_mask(reader.features, mask, valid)
    output: Tensor = predictor.network(torch.cat([reader.imputer(x, encoded), encoded.to(x.dtype)], 1))  # type: ignore[operator]  # a Module
    return output


def _train(
    module: Network, step: Step, train: tuple[Batch, Tensor], validation: tuple[Batch, Tensor], *, fabric: Fabric | None, seed: int
) -> Network:
    """Train one part of a module on rows with their own masks, with the steps of a reader."""
    parts = replace(train[0], explainer_masks=train[1].bool()), replace(validation[0], explainer_masks=validation[1].bool())
    steps, rate = evaluators.READER_STEPS, evaluators.READER_RATE
    return train_network(module, step, parts, steps=steps, learning_rate=rate, fabric=fabric, seed=seed)


def encoding_values(
    evaluator: Evaluator,
    train: Batch,
    train_mask: Tensor,
    eval_rows: Batch,
    mask: Tensor,
    *,
    fabric: Fabric | None = None,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """The encoding (b,) of the masks of rows, by two readers that are trained on other rows.

    The mask-agnostic reader is a copy of the evaluator, trained on masks that are shuffled between rows in each step. So it learns only
    from the values: p(y | visible values). Shuffled masks are weighted to show values like those under own masks, because the reader is
    evaluated on own masks. The mask-aware reader is trained on each row's own mask: p(y | visible values, own mask). Both then predict
    the targets of rows with their own masks. The difference of their log-likelihoods is the encoding.

    Args:
        evaluator: Evaluator that both readers start from. It was not trained on `eval_rows`.
        train: Training rows; a tenth of them is held out.
        train_mask: (n, d) masks that the explainer chose for them.
        eval_rows: Rows to evaluate.
        mask: (b, d) masks that the explainer chose for these.
        fabric: Device and precision. None: the CPU.
        seed: Seed of the random numbers.
        max_rows: Maximum number of rows sent to a network at once in the evaluation.
    """
    learn, held_out = tenth_at(train, seed)
    own_masks = (train.take(learn), train_mask[learn], train.take(held_out), train_mask[held_out])
    density = MaskDensityRatio(evaluator).fit(*own_masks, fabric=fabric, seed=seed)
    shuffled = (train_mask[learn], *own_masks[::2])
    mask_agnostic = evaluator.adapted_to(*shuffled, weight=density.weight, fabric=fabric, seed=seed)
    if evaluator.predictor.outputs.real:  # the correction of a Normal need not be a Normal, so both are trained on, for the same time
        mask_aware: Evaluator | MaskAwareReader = mask_agnostic.fit_reader(*own_masks, fabric=fabric, seed=seed)
        mask_agnostic = mask_agnostic.adapted_to(*shuffled, weight=density.weight, fabric=fabric, seed=seed)
    else:
        mask_aware = MaskAwareReader(mask_agnostic, density).fit(*own_masks, fabric=fabric, seed=seed)
    with torch.no_grad():
        device = next(mask_agnostic.parameters()).device
        parts = list(zip(eval_rows.chunks(max_rows), torch.split(mask, max_rows), strict=True))
        aware, agnostic = (
            torch.cat([_log_likelihood(reader, rows.to(device), visible.to(device)).cpu() for rows, visible in parts])
            for reader in (mask_aware, mask_agnostic)
        )
    return (aware - agnostic).double()


def _log_likelihood(reader: Evaluator | MaskAwareReader, rows: Batch, visible: Tensor) -> Tensor:
    """Log-likelihood (b,) of the targets of rows with some visible features, under a reader."""
    return -cross_entropy(rows.target, reader(rows.x, visible, rows.valid))
