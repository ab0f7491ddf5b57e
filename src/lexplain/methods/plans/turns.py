"""Networks that take turns in every iteration."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ...core import Trial
from ...core.contracts import Estimator, MaskDistribution, Predictor
from ...masks import Coins
from ...models import Trained
from ...objectives import PriorExplainer, complement, cross_entropy, opposite
from .plan import Phase, PredictorSchedule, Step

if TYPE_CHECKING:
    from ..method import Method

FIXED = PredictorSchedule(masks=Coins, first=0.5, rests=True)  # learn a predictor of any mask first, then leave it as it is


@dataclass(frozen=True)
class Adversary:
    """A predictor that learns from what is hidden, and the weight of its confusion in the selector's cost (MEED)."""

    predictor: Predictor
    weight: float = 1.0


class Turns(nn.Module):
    """Predictor, adversary, baseline and selector learn one after the other from each batch.

    Args:
        estimator: how the selector learns from the cost of masks.
        schedule: how the predictor learns beside it.
        baseline: a network on full rows whose cost is the selector's baseline (INVASE).
        adversary: learns from what is hidden (MEED).
        prior: an explainer to start from (MEED).
        decay: weight decay of all that trains, decoupled from the gradient.
    """

    measures_gains = False
    open_ended = False
    prices_masks = True

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

    def with_resting_predictor(self) -> Turns:
        """The same plan for a predictor that learns from random masks first and then rests."""
        rested = copy.copy(self)
        rested.schedule = replace(FIXED, last=self.schedule.last)
        return rested

    def settled_at(self, method: Method, price: float) -> list[Phase]:
        """Nothing: no gains are measured."""
        return []

    def refuse_misfit(self, method: Method, p: MaskDistribution) -> None:
        """Refuse an estimator that asks more of the masks, the predictor or the imputer than they can do."""
        estimator, name = self.estimator, type(self.estimator).__name__
        if not hasattr(estimator, "needs"):
            raise TypeError(f"estimator={estimator!r}, but an object of `lexplain.estimators` is needed, such as Reinforce()")
        if not hasattr(p, estimator.needs):
            raise TypeError(
                f"{name} needs a mask distribution with `{estimator.needs}`, which {type(p).__name__} has not; "
                "choose an estimator that needs less, such as Pathwise (`relaxed`) or Reinforce (`draw`)"
            )
        if estimator.needs_gradient and not getattr(method.predictor, "differentiable", True):
            raise TypeError(
                f"{name} needs gradients through the predictor, which a black box has not; choose Reinforce, or regime='surrogate'"
            )
        if getattr(estimator, "needs_smooth", False) and not getattr(method.imputer, "smooth", True):
            fills = type(method.imputer).__name__
            raise TypeError(
                f"{name} is unbiased only where filled values move smoothly with a soft mask, but {fills} chooses by it "
                "what to fill in; choose Reinforce or StraightThrough, or an imputer such as Constant, Marginal or IndependentGaussian"
            )

    # ---- what the loop does ----

    def phases(self, method: Method) -> list[Phase]:
        """The predictor alone, all in turns, and the predictor alone again, as the schedule says."""
        steps, schedule = self._steps(method), self.schedule
        head = [Phase("predictor", tuple(steps), schedule.first)] if steps and schedule.first else []
        turns = self._turns(method, steps)
        last, tail = 0.0, []
        if isinstance(method.predictor, Trained) and schedule.last and not schedule.rests:
            last, loss = schedule.last, partial(self._polish_loss, method)
            tail = [Phase("polish", (self._step("predictor", method.predictor, loss, method.objective.likelihood.copies),), last)]
        share = 1 - last - (schedule.first if head else 0.0)
        return [*head, Phase("selector", turns, share, method.objective.burn_in), *tail]

    def _steps(self, method: Method) -> list[Step]:
        """The turns of all but the selector."""
        copies, steps = method.objective.likelihood.copies, []
        if isinstance(method.predictor, Trained):
            steps.append(self._step("predictor", method.predictor, partial(self._predictor_loss, method), copies))
        if isinstance(self.adversary, nn.Module):
            steps.append(self._step("adversary", self.adversary, partial(self._adversary_loss, method), copies))
        if isinstance(self.baseline, Trained):
            steps.append(self._step("baseline", self.baseline, partial(self._baseline_loss, method), 1))
        return steps

    def _step(self, name: str, part: nn.Module, loss: Callable[[Trial], Tensor], copies: int) -> Step:
        return Step(name, part, loss, loss, copies, decay=self.decay)

    def _turns(self, method: Method, steps: list[Step]) -> tuple[Step, ...]:
        """The steps of the phase in which the selector learns."""
        select = Step(
            "selector",
            method.selector,
            partial(self._selector_loss, method),
            partial(self._selector_check, method),
            method.objective.likelihood.copies * self.estimator.masks_a_call,
            decay=self.decay,
        )
        return (select,) if self.schedule.rests else (*steps, select)

    # ---- masks ----

    def distribution(self, method: Method, trial: Trial) -> MaskDistribution:
        """The selector's distribution over masks, led by the prior explainer while it trains."""
        if self.prior is None or not method.selector.training:
            return method.distribution(trial)
        logits = self.prior.merge(method.selector.logits(trial.x, trial.context, trial.valid), trial)
        return method.selector.family(logits, trial.valid)

    def _training_masks(self, method: Method, trial: Trial) -> Tensor:
        """Masks (1, L, b, d) that a predictor learns on."""
        if self.schedule.masks is None:
            return self._own_masks(method, trial)
        drawn = self._random_masks(method, trial)
        share = self.schedule.own_share
        if not share:
            return drawn
        return torch.where(torch.rand(len(trial), 1, device=trial.x.device) < share, self._own_masks(method, trial), drawn)

    def _random_masks(self, method: Method, trial: Trial) -> Tensor:
        assert self.schedule.masks is not None
        drawn = self.schedule.masks(len(trial), method.features.count, valid=trial.valid, device=trial.x.device)
        return drawn.sample((1, method.objective.likelihood.masks))

    def _own_masks(self, method: Method, trial: Trial) -> Tensor:
        with torch.no_grad():
            return self.estimator.masks(self.distribution(method, trial), (1, method.objective.likelihood.masks))

    # ---- losses ----

    def cost(self, method: Method, trial: Trial, mask: Tensor) -> Tensor:
        """The cost (M, b) of masks (M, L, b, d): all that the selector is to make small, but the penalties."""
        trial = replace(trial, mask=mask, predicted=method.predict(trial, mask))
        total = method.objective.cost(trial)
        if self.adversary is not None:
            total = total + self.adversary_weight * self._infidelity(method, trial, mask, opposite(trial.target))
        return total

    def _infidelity(self, method: Method, trial: Trial, mask: Tensor, target: Distribution) -> Tensor:
        """How far (M, b) the adversary, who reads what is hidden, is from a target."""
        hidden = complement(mask)
        hidden = hidden if trial.valid is None else hidden & trial.valid if hidden.dtype == torch.bool else hidden * trial.valid
        predicted = method.predict(trial, hidden, self.adversary)
        return method.objective.likelihood(replace(trial, target=target, predicted=predicted))

    def _prediction_loss(self, method: Method, trial: Trial, mask: Tensor) -> Tensor:
        return method.objective.likelihood(replace(trial, predicted=method.predict(trial, mask))).mean()

    def _polish_loss(self, method: Method, trial: Trial) -> Tensor:
        return self._prediction_loss(method, trial, self._own_masks(method, trial))

    def _predictor_loss(self, method: Method, trial: Trial) -> Tensor:
        return self._prediction_loss(method, trial, self._training_masks(method, trial))

    def _adversary_loss(self, method: Method, trial: Trial) -> Tensor:
        return self._infidelity(method, trial, self._training_masks(method, trial), trial.target).mean()

    def _baseline_cost(self, trial: Trial) -> Tensor:
        """The baseline's cost (b,) of full rows."""
        assert self.baseline is not None
        return cross_entropy(trial.target, self.baseline(trial.x, torch.ones_like(trial.x)))

    def _baseline_loss(self, method: Method, trial: Trial) -> Tensor:
        return self._baseline_cost(trial).mean()

    def _selector_loss(self, method: Method, trial: Trial) -> Tensor:
        trial = replace(trial, p=self.distribution(method, trial))
        with torch.no_grad():
            baseline = None if self.baseline is None else self._baseline_cost(trial)
        group = method.objective.likelihood.masks
        loss = self.estimator(trial.p, lambda mask: self.cost(method, trial, mask), baseline, group=group)
        return loss + method.objective.penalty(trial)

    def _selector_check(self, method: Method, trial: Trial) -> Tensor:
        p = self.distribution(method, trial)
        trial = replace(trial, p=p)
        masks = self.estimator.masks(p, (1, method.objective.likelihood.masks))
        return self.cost(method, trial, masks).mean() + method.objective.penalty(trial)
