"""Does a mask tell about y beyond what the visible values tell? Two readers say: one that is told that the mask was chosen for its row."""

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

STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the tilt; where nothing was learned that holds on other rows, none is best
MAX_LOG_WEIGHT = 3.0  # log of the greatest weight: a few rows must not stand for all


class MaskDensityRatio(nn.Module):
    """Say whether a mask was chosen for its row or dealt at random, by the mask and the values it shows alone.

    Its odds are the density of what chosen masks show over that of what dealt ones show.

    Reference:
        Sugiyama, Suzuki and Kanamori, Density Ratio Estimation in Machine Learning, 2012, chapter 4 (odds as a ratio of densities).
    """

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__()
        self.features, self.imputer, self.predictor = evaluator.features, evaluator.imputer, copy.deepcopy(evaluator.predictor)

    def forward(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Log-odds (n,) that masks (n, d) were chosen for rows (n, ...)."""
        return _numbers(self, self.predictor, x, mask, valid).mean(1)

    @torch.no_grad()
    def weight(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """How much (n,) a dealt mask must count for dealt masks to show what chosen ones show."""
        return self.forward(x, mask, valid).clamp(max=MAX_LOG_WEIGHT).exp()

    def fit(
        self, train: Batch, masks: Tensor, validation: Batch, validation_masks: Tensor, *, fabric: Fabric | None, seed: int
    ) -> MaskDensityRatio:
        """Learn from masks (n, d) chosen for rows."""
        dealt = shuffled_mask_sampler(masks, fabric)

        def mistakes(batch: Batch) -> Tensor:
            return (
                softplus(-self(batch.x, require_explainer_masks(batch), batch.valid)) + softplus(self(batch.x, dealt(batch), batch.valid))
            ).mean()

        step = Step("mask density", self.predictor, mistakes, mistakes, model_rows_per_row=2)
        return _learn(self, step, (train, masks), (validation, validation_masks), fabric=fabric, seed=seed)


class MaskAwareReader(nn.Module):
    """Predict as a reader that knows nothing of the choice does, tilted by what the choice says of the class.

    A network sees the values shown, the mask and the class, and says whether the mask was chosen for the row or dealt. Its odds g are
    p(y | values, chosen) / p(y | values) up to a factor without y, so that p(y | values) g(y), normalised, is what one who knows of the
    choice predicts. Where choices tell nothing g does not depend on y, and errors of the untold reader are errors of both: a second
    reader that learned by itself would be better than the first where its task is easier, and seem to have been told something.

    Args:
        untold: predicts from values alone; classes, not real values.
        density: what the values alone say about whether a mask was chosen; only what the class adds is learned here.
    """

    def __init__(self, mask_agnostic: Evaluator, density: MaskDensityRatio) -> None:
        super().__init__()
        self.mask_agnostic, self.density, self.strength = mask_agnostic, density, 1.0
        self.start, self.learned = (copy.deepcopy(mask_agnostic.predictor) for _ in range(2))  # their difference begins at 0

    def forward(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Categorical:
        """The distribution (n,) of the class given what chosen masks (n, d) show of rows (n, ...)."""
        return Categorical(
            logits=self.mask_agnostic(x, mask, valid).logits + self.strength * self.odds(x, mask, valid), validate_args=False
        )

    def odds(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """How much (n, c) each class adds to the log-odds that the mask was chosen for the row."""
        with torch.no_grad():
            before = _numbers(self.mask_agnostic, self.start, x, mask, valid)
        return _numbers(self.mask_agnostic, self.learned, x, mask, valid) - before

    def fit(
        self, train: Batch, masks: Tensor, validation: Batch, validation_masks: Tensor, *, fabric: Fabric | None, seed: int
    ) -> MaskAwareReader:
        """Learn from masks (n, d) chosen for rows; the best epoch and strength are those that predict the validation rows best."""
        dealt = shuffled_mask_sampler(masks, fabric)

        def odds(batch: Batch, mask: Tensor) -> Tensor:
            with torch.no_grad():
                by_values: Tensor = self.density(batch.x, mask, batch.valid)[:, None]
            return by_values + self.odds(batch.x, mask, batch.valid)

        def mistakes(batch: Batch) -> Tensor:
            wrong = softplus(-odds(batch, require_explainer_masks(batch))) + softplus(odds(batch, dealt(batch)))  # (b, c)
            return (target_values(batch.target) * wrong).sum(1).mean()

        def missed(batch: Batch) -> Tensor:
            return cross_entropy(batch.target, self(batch.x, require_explainer_masks(batch), batch.valid)).mean()

        step = Step("mask-aware reader", self.learned, mistakes, missed, model_rows_per_row=2)
        _learn(self, step, (train, masks), (validation, validation_masks), fabric=fabric, seed=seed)
        self._choose_strength(replace(validation, explainer_masks=validation_masks.bool()), missed)
        return self

    @torch.no_grad()
    def _choose_strength(self, validation: Batch, missed: Loss) -> None:
        rows, losses = validation.to(next(self.parameters()).device), {}
        for self.strength in STRENGTHS:
            losses[self.strength] = float(missed(rows))
        self.strength = min(losses, key=lambda strength: losses[strength])


def _numbers(reader: Evaluator | MaskDensityRatio, predictor: nn.Module, x: Tensor, mask: Tensor, valid: Tensor | None) -> Tensor:
    """A predictor's numbers (n, c), before they stand for anything, for what a reader sees."""
    raw = encoded_mask(reader.features, mask, valid)
    numbers: Tensor = predictor.network(torch.cat([reader.imputer(x, raw), raw.to(x.dtype)], 1))  # type: ignore[operator]  # a Module
    return numbers


def _learn(
    module: Network, step: Step, train: tuple[Batch, Tensor], validation: tuple[Batch, Tensor], *, fabric: Fabric | None, seed: int
) -> Network:
    """Train one part of a module on rows with their chosen masks, for as long as a reader learns."""
    parts = replace(train[0], explainer_masks=train[1].bool()), replace(validation[0], explainer_masks=validation[1].bool())
    steps, rate = evaluators.READER_STEPS, evaluators.READER_RATE
    return train_network(module, step, parts, steps=steps, learning_rate=rate, fabric=fabric, seed=seed)


def encoding_values(
    evaluator: Evaluator,
    train: Batch,
    train_mask: Tensor,
    judged: Batch,
    mask: Tensor,
    *,
    fabric: Fabric | None = None,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """The encoding (b,) of the judged rows' masks, by two readers that learn from other rows.

    The untold reader, a copy of the evaluator, adapts to masks like these, dealt to rows at random and anew at every step, so that for
    it a mask is any mask and only the values speak: p(y | values shown). Dealt masks count by how much what they show looks like what
    chosen ones show, so that it is good where it is judged. The told reader knows that the mask was chosen for this row:
    p(y | values shown, mask chosen). Both read the judged rows with their own masks. What the second knows more, the choice told it.

    Args:
        evaluator: what both begin from; it has not seen the judged rows.
        train: rows to learn from, a tenth of which are held back.
        train_mask: (n, d) chosen for them by what is judged.
        judged: other rows.
        mask: (b, d) chosen for those.
        fabric: device and precision; None: the CPU.
        seed: of every draw.
        max_rows: most model rows in flight in the judging.
    """
    learn, check = tenth_at(train, seed)
    chosen = (train.take(learn), train_mask[learn], train.take(check), train_mask[check])
    density = MaskDensityRatio(evaluator).fit(*chosen, fabric=fabric, seed=seed)
    dealt = (train_mask[learn], *chosen[::2])
    mask_agnostic = evaluator.adapted_to(*dealt, weight=density.weight, fabric=fabric, seed=seed)
    if evaluator.predictor.outputs.real:  # a tilted Normal need not be one: both go on by themselves, for as long
        told: Evaluator | MaskAwareReader = mask_agnostic.fit_reader(*chosen, fabric=fabric, seed=seed)
        mask_agnostic = mask_agnostic.adapted_to(*dealt, weight=density.weight, fabric=fabric, seed=seed)
    else:
        told = MaskAwareReader(mask_agnostic, density).fit(*chosen, fabric=fabric, seed=seed)
    with torch.no_grad():
        device = next(mask_agnostic.parameters()).device
        parts = list(zip(judged.chunks(max_rows), torch.split(mask, max_rows), strict=True))
        known, unknown = (
            torch.cat([_log_likelihood(reader, rows.to(device), shown.to(device)).cpu() for rows, shown in parts])
            for reader in (told, mask_agnostic)
        )
    return (known - unknown).double()


def _log_likelihood(reader: Evaluator | MaskAwareReader, rows: Batch, shown: Tensor) -> Tensor:
    """How likely (b,) a reader finds the targets of rows, of which it is shown some features."""
    return -cross_entropy(rows.target, reader(rows.x, shown, rows.valid))
