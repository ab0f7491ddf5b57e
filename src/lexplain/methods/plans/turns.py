"""Training of networks that alternate in each iteration."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ...core import Batch
from ...core.contracts import Estimator, MaskDistribution, Predictor
from ...masks import FixedRate
from ...models import Trained
from ...objectives import PriorExplainer, complement, cross_entropy, opposite
from .plan import Phase, PredictorSchedule, Step

if TYPE_CHECKING:
    from ..method import Method

FIXED = PredictorSchedule(masks=FixedRate, pretrain_share=0.5, freeze=True)  # train on random masks first, then freeze


@dataclass(frozen=True)
class Adversary:
    """A predictor trained on the hidden features, and the weight of its loss in the selector's cost (MEED)."""

    predictor: Predictor
    weight: float = 1.0


class Turns(nn.Module):
    """Train predictor, adversary, baseline and selector one after the other on each batch.

    Args:
        estimator: Turns the cost of masks into gradients of the selector.
        schedule: How the predictor is trained.
        baseline: Network on full rows whose cost is the selector's baseline (INVASE).
        adversary: Predictor trained on the hidden features (MEED).
        prior: Explainer to start from (MEED).
        decay: Weight decay of all trained networks, decoupled from the gradient.
    """

    measures_gains = False
    chooses_price = False
    supports_mask_costs = True

    def __init__(
        self,
        estimator: Estimator,
        schedule: PredictorSchedule = PredictorSchedule(),
        *,
        baseline: Predictor | None = None,
        adversary: Adversary | None = None,
        prior: PriorExplainer | None = None,
        decay: float = 0.0,
    ) -> None:
        super().__init__()
        self.estimator, self.schedule, self.prior = estimator, schedule, prior
        self.baseline: Predictor | None = baseline
        self.adversary: Predictor | None = None if adversary is None else adversary.predictor
        self.adversary_weight = 0.0 if adversary is None else adversary.weight
        self.decay = decay

    def with_frozen_predictor(self) -> Turns:
        """The same plan with a predictor that is trained on random masks first and then frozen."""
        frozen = copy.copy(self)
        frozen.schedule = replace(FIXED, last=self.schedule.last)
        return frozen

    def extra_round(self, method: Method, price: float) -> list[Phase]:
        """Return no phases, because no gains are measured."""
        return []

    def check_parts(self, method: Method, p: MaskDistribution) -> None:
        """Raise if the masks, the predictor or the imputer lack what the estimator needs."""
        estimator, name = self.estimator, type(self.estimator).__name__
        if not hasattr(estimator, "needs"):
            raise TypeError(f"estimator must be an object of lexplain.estimators, such as Reinforce(), got {estimator!r}.")
        if not hasattr(p, estimator.needs):
            raise TypeError(
                f"{name} needs a mask distribution with {estimator.needs}, which {type(p).__name__} does not have. "
                "Use another estimator, such as Pathwise (relaxed) or Reinforce (draw)."
            )
        if estimator.needs_gradient and not getattr(method.predictor, "differentiable", True):
            raise TypeError(f"{name} needs gradients of the predictor, but a black box has none. Use Reinforce, or regime='surrogate'.")
        if getattr(estimator, "needs_smooth", False) and not getattr(method.imputer, "smooth", True):
            imputer = type(method.imputer).__name__
            raise TypeError(
                f"{name} needs imputed values that change smoothly with a soft mask, but those of {imputer} do not. "
                "Use Reinforce or StraightThrough, or an imputer such as Constant, Marginal or IndependentGaussian."
            )

    # ---- phases and steps ----

    def phases(self, method: Method) -> list[Phase]:
        """The predictor alone, then all networks alternating, then the predictor alone, with the shares of the schedule."""
        steps, schedule = self._steps(method), self.schedule
        head = [Phase("predictor", tuple(steps), schedule.pretrain_share)] if steps and schedule.pretrain_share else []
        turns = self._turns(method, steps)
        last, tail = 0.0, []
        if isinstance(method.predictor, Trained) and schedule.last and not schedule.freeze:
            last, loss = schedule.last, partial(self._polish_loss, method)
            tail = [
                Phase("polish", (self._step("predictor", method.predictor, loss, method.objective.likelihood.model_rows_per_row),), last)
            ]
        share = 1 - last - (schedule.pretrain_share if head else 0.0)
        return [*head, Phase("selector", turns, share, method.objective.burn_in), *tail]

    def _steps(self, method: Method) -> list[Step]:
        """The steps of all networks except the selector."""
        copies, steps = method.objective.likelihood.model_rows_per_row, []
        if isinstance(method.predictor, Trained):
            steps.append(self._step("predictor", method.predictor, partial(self._predictor_loss, method), copies))
        if isinstance(self.adversary, nn.Module):
            steps.append(self._step("adversary", self.adversary, partial(self._adversary_loss, method), copies))
        if isinstance(self.baseline, Trained):
            steps.append(self._step("baseline", self.baseline, partial(self._baseline_loss, method), 1))
        return steps

    def _step(self, name: str, part: nn.Module, loss: Callable[[Batch], Tensor], copies: int) -> Step:
        return Step(name, part, loss, loss, copies, decay=self.decay)

    def _turns(self, method: Method, steps: list[Step]) -> tuple[Step, ...]:
        """The steps of the phase in which the selector learns."""
        select = Step(
            "selector",
            method.selector,
            partial(self._selector_loss, method),
            partial(self._selector_check, method),
            method.objective.likelihood.model_rows_per_row * self.estimator.masks_per_call,
            decay=self.decay,
        )
        return (select,) if self.schedule.freeze else (*steps, select)

    # ---- masks ----

    def distribution(self, method: Method, batch: Batch) -> MaskDistribution:
        """The selector's distribution over masks, combined with the prior explainer in training."""
        if self.prior is None or not method.selector.training:
            return method.distribution(batch)
        logits = self.prior.merge(method.selector.logits(batch.x, batch.context, batch.valid), batch)
        return method.selector.family(logits, batch.valid)

    def _training_masks(self, method: Method, batch: Batch) -> Tensor:
        """Masks (1, L, b, d) to train a predictor on."""
        if self.schedule.masks is None:
            return self._own_masks(method, batch)
        sampled = self._random_masks(method, batch)
        share = self.schedule.own_share
        if not share:
            return sampled
        return torch.where(torch.rand(len(batch), 1, device=batch.x.device) < share, self._own_masks(method, batch), sampled)

    def _random_masks(self, method: Method, batch: Batch) -> Tensor:
        assert self.schedule.masks is not None
        masks = self.schedule.masks(len(batch), method.features.count, valid=batch.valid, device=batch.x.device)
        return masks.sample((1, method.objective.likelihood.masks))

    def _own_masks(self, method: Method, batch: Batch) -> Tensor:
        with torch.no_grad():
            return self.estimator.masks(self.distribution(method, batch), (1, method.objective.likelihood.masks))

    # ---- losses ----

    def cost(self, method: Method, batch: Batch, mask: Tensor) -> Tensor:
        """The cost (M, b) of masks (M, L, b, d): the objective of the selector without the penalties."""
        batch = replace(batch, mask=mask, predicted=method.predict(batch, mask))
        total = method.objective.cost(batch)
        if self.adversary is not None:
            total = total + self.adversary_weight * self._infidelity(method, batch, mask, opposite(batch.target))
        return total

    def _infidelity(self, method: Method, batch: Batch, mask: Tensor, target: Distribution) -> Tensor:
        """Loss (M, b) of the adversary, which reads the hidden features, for a target."""
        hidden = complement(mask)
        hidden = hidden if batch.valid is None else hidden & batch.valid if hidden.dtype == torch.bool else hidden * batch.valid
        predicted = method.predict(batch, hidden, self.adversary)
        return method.objective.likelihood(replace(batch, target=target, predicted=predicted))

    def _prediction_loss(self, method: Method, batch: Batch, mask: Tensor) -> Tensor:
        return method.objective.likelihood(replace(batch, predicted=method.predict(batch, mask))).mean()

    def _polish_loss(self, method: Method, batch: Batch) -> Tensor:
        return self._prediction_loss(method, batch, self._own_masks(method, batch))

    def _predictor_loss(self, method: Method, batch: Batch) -> Tensor:
        return self._prediction_loss(method, batch, self._training_masks(method, batch))

    def _adversary_loss(self, method: Method, batch: Batch) -> Tensor:
        return self._infidelity(method, batch, self._training_masks(method, batch), batch.target).mean()

    def _baseline_cost(self, batch: Batch) -> Tensor:
        """The baseline's loss (b,) on full rows."""
        assert self.baseline is not None
        return cross_entropy(batch.target, self.baseline(batch.x, torch.ones_like(batch.x)))

    def _baseline_loss(self, method: Method, batch: Batch) -> Tensor:
        return self._baseline_cost(batch).mean()

    def _selector_loss(self, method: Method, batch: Batch) -> Tensor:
        batch = replace(batch, p=self.distribution(method, batch))
        with torch.no_grad():
            baseline = None if self.baseline is None else self._baseline_cost(batch)
        group = method.objective.likelihood.masks
        loss = self.estimator(batch.p, lambda mask: self.cost(method, batch, mask), baseline, group=group)
        return loss + method.objective.penalty(batch)

    def _selector_check(self, method: Method, batch: Batch) -> Tensor:
        p = self.distribution(method, batch)
        batch = replace(batch, p=p)
        masks = self.estimator.masks(p, (1, method.objective.likelihood.masks))
        return self.cost(method, batch, masks).mean() + method.objective.penalty(batch)
