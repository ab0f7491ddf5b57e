"""Where the parts meet: the order they run in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from .. import check
from ..core import Trial, reshape_batch
from ..masks import FixedMasks
from ..objectives import Likelihood, PriorExplainer, complement, cross_entropy, opposite
from ..predictors import Trained
from ..selectors import Selector, scores_on_cpu
from .step import Phase, Step

Term = Callable[[Trial], Tensor]
TEST_IMPUTATIONS = 20  # draws averaged in a prediction where the imputer is random
FEW = 2**14  # scores of which a CPU has picked the best before a GPU has begun to


class Method(nn.Module):
    """A selector, an imputer and a predictor, and how they learn from each other.

    Args:
        name: for tables and files.
        features: feature masks to raw masks.
        selector: rows to a distribution over masks.
        estimator: how the selector learns from the cost of masks.
        imputer: fills what is hidden.
        predictor: predicts from a filled row; trains if it is a `Trained`.
        objective: joins masks and imputations into the cost of a row.
        penalties: costs (b,) of the mask distribution.
        mask_costs: costs (M, b) of masks.
        predictor_masks: masks the predictor learns on; None: the selector's own (joint training).
        own_share: share of the rows on which it learns from the selector's own masks all the same.
        predictor_first: share of the epochs in which the predictor trains alone, before the selector.
        predictor_rests: leave the predictor as it is after that; otherwise the two take turns.
        predictor_last: share of the epochs, at the end, in which the predictor alone learns from the masks of the finished selector.
        together: predictor and selector learn from the same prediction of the same masks, in one backward pass, where the estimator
            sends gradients through masks; otherwise they take turns, which costs about twice as much.
        baseline: a network on full rows whose cost is the selector's baseline (INVASE).
        adversary: a predictor on what is hidden, and the weight of its confusion in the selector's cost (MEED).
        prior: an explainer to start from (MEED).
        reads_output: the selector sees the model's output beside the row (MEED).
        selector_speed: multiplies the selector's learning rate; a slow one waits for the predictor.
        decay: weight decay of all that trains, decoupled from the gradient.
        plan: how it learns, if not by turns: a function of the method to its phases.
    """

    def __init__(
        self,
        name: str,
        *,
        features: Any,
        selector: Selector,
        estimator: Any,
        imputer: nn.Module,
        predictor: nn.Module,
        objective: Likelihood,
        penalties: Sequence[Term] = (),
        mask_costs: Sequence[Term] = (),
        predictor_masks: FixedMasks | None = None,
        own_share: float = 0.0,
        predictor_first: float = 0.0,
        predictor_rests: bool = False,
        predictor_last: float = 0.0,
        together: bool = False,
        baseline: nn.Module | None = None,
        adversary: tuple[nn.Module, float] | None = None,
        prior: PriorExplainer | None = None,
        reads_output: bool = False,
        selector_speed: float = 1.0,
        decay: float = 0.0,
        plan: Callable[[Method], list[Phase]] | None = None,
    ) -> None:
        super().__init__()
        self.name, self.features, self.estimator, self.objective = name, features, estimator, objective
        self.selector: Selector = selector
        self.imputer, self.predictor, self.baseline = imputer, predictor, baseline
        self.adversary: nn.Module | None = adversary[0] if adversary else None
        self.adversary_weight = adversary[1] if adversary else 0.0
        self.penalties, self.mask_costs = tuple(penalties), tuple(mask_costs)
        self.predictor_masks, self.own_share = predictor_masks, own_share
        self.predictor_first, self.predictor_rests, self.predictor_last = predictor_first, predictor_rests, predictor_last
        self.together = together
        self.prior, self.reads_output, self.selector_speed, self.decay, self.plan = prior, reads_output, selector_speed, decay, plan

    # ---- what runs ----

    def predict(self, trial: Trial, mask: Tensor, predictor: nn.Module | None = None) -> Distribution:
        """Predictions of batch (M, L, K, b) from masks (M, L, b, d), with K fresh imputations each."""
        outer, inner, rows, _ = mask.shape
        lead = (outer, inner, self.objective.imputations, rows)
        shape = trial.x.shape[1:]
        raw = self.features.expand(mask).unsqueeze(2).expand(*lead, *shape).reshape(-1, *shape)
        x = trial.x.expand(*lead, *shape).reshape(-1, *shape)
        return reshape_batch((predictor or self.predictor)(self.imputer(x, raw), raw), lead)

    def distribution(self, trial: Trial) -> Any:
        """The selector's distribution over masks, led by the prior explainer while it trains."""
        if self.prior is None or not self.selector.training:
            return self.selector(trial.x, trial.context, trial.valid)
        logits = self.prior.merge(self.selector.logits(trial.x, trial.context), trial)
        return self.selector.family(logits, trial.valid)

    def cost(self, trial: Trial, mask: Tensor) -> Tensor:
        """The cost (M, b) of masks (M, L, b, d): all that the selector is to make small, but the penalties."""
        trial = replace(trial, mask=mask, predicted=self.predict(trial, mask))
        total = self.objective(trial)
        for term in self.mask_costs:
            total = total + term(trial)
        if self.adversary is not None:
            total = total + self.adversary_weight * self._infidelity(trial, mask, opposite(trial.target))
        return total

    def change(self, trial: Trial, mask: Tensor) -> Tensor:
        """How far (M, b) predictions from masks (M, 1, b, d) are from the predictor's own of full rows: KL in nats, outside the log.

        Every mask of a row meets the same imputed values, so that masks can be compared.
        """
        raw = self.features.expand(mask.squeeze(1))
        filled = torch.vmap(lambda shown: self.imputer(trial.x, shown), randomness="same")(raw)
        whole = self.predictor(trial.x, torch.ones_like(trial.x, dtype=torch.bool))
        masked = reshape_batch(self.predictor(filled.flatten(0, 1), raw.flatten(0, 1)), raw.shape[:2])
        return cross_entropy(whole, masked) - cross_entropy(whole, whole)

    def _infidelity(self, trial: Trial, mask: Tensor, target: Distribution) -> Tensor:
        """How far (M, b) the adversary, who reads what is hidden, is from a target."""
        hidden = complement(mask)
        hidden = hidden if trial.valid is None else hidden & trial.valid if hidden.dtype == torch.bool else hidden * trial.valid
        predicted = self.predict(trial, hidden, self.adversary)
        return self.objective(replace(trial, target=target, predicted=predicted))

    # ---- how it learns ----

    def phases(self) -> list[Phase]:
        """What the training loop does, in order."""
        if self.plan is not None:
            return self.plan(self)
        copies = self.objective.masks * self.objective.imputations
        steps = []
        if isinstance(self.predictor, Trained):
            steps.append(Step("predictor", self.predictor, self._predictor_loss, self._predictor_loss, copies, decay=self.decay))
        if self.adversary is not None:
            steps.append(Step("adversary", self.adversary, self._adversary_loss, self._adversary_loss, copies, decay=self.decay))
        if isinstance(self.baseline, Trained):
            steps.append(Step("baseline", self.baseline, self._baseline_loss, self._baseline_loss, decay=self.decay))
        masks = copies * self.estimator.masks_a_call
        select = Step("selector", self.selector, self._selector_loss, self._selector_check, masks, self.selector_speed, self.decay)
        settle = max((getattr(term, "warmup", 0.0) for term in self.penalties), default=0.0)
        head = [Phase("predictor", tuple(steps), self.predictor_first)] if steps and self.predictor_first else []
        turns = (select,) if self.predictor_rests else (*steps, select)
        if self._at_once:
            both = nn.ModuleList([self.predictor, self.selector])
            turns = (Step("selector", both, self._joint_loss, self._selector_check, masks, decay=self.decay),)
        last = self.predictor_last if isinstance(self.predictor, Trained) and not self.predictor_rests else 0.0
        polish = Step("predictor", self.predictor, self._polish_loss, self._polish_loss, copies, decay=self.decay)
        tail = [Phase("polish", (polish,), last)] if last else []
        return [*head, Phase("selector", turns, 1 - last - (self.predictor_first if head else 0.0), settle), *tail]

    @property
    def _at_once(self) -> bool:
        """Whether one backward pass can teach both networks, and nobody else has to learn between."""
        alone = self.adversary is None and self.baseline is None and not self.predictor_rests
        alone = alone and (self.predictor_masks is None or self.own_share > 0) and self.selector_speed == 1  # one step has one speed
        return self.together and alone and isinstance(self.predictor, Trained) and bool(getattr(self.estimator, "is_cost", False))

    def _joint_loss(self, trial: Trial) -> Tensor:
        """The cost of the selector's masks on a share of the rows, and of masks that depend on nothing on the others.

        The first rows of a batch are as good as any, since batches are shuffled; the selector runs on them alone.
        """
        share = 1.0 if self.predictor_masks is None else self.own_share
        own = max(1, round(share * len(trial)))
        loss = self._selector_loss(trial.take(slice(0, own)))
        rest = trial.take(slice(own, None))
        if not len(rest):
            return loss
        other = self.objective(replace(rest, predicted=self.predict(rest, self._random_masks(rest)))).mean()
        return (own * loss + len(rest) * other) / len(trial)

    def _training_masks(self, trial: Trial) -> Tensor:
        """Masks (1, L, b, d) that a predictor learns on."""
        if self.predictor_masks is None:
            return self._own_masks(trial)
        drawn = self._random_masks(trial)
        if not self.own_share:
            return drawn
        return torch.where(torch.rand(len(trial), 1, device=trial.x.device) < self.own_share, self._own_masks(trial), drawn)

    def _random_masks(self, trial: Trial) -> Tensor:
        assert self.predictor_masks is not None
        drawn = self.predictor_masks(len(trial), self.features.count, valid=trial.valid, device=trial.x.device)
        return drawn.sample((1, self.objective.masks))

    def _own_masks(self, trial: Trial) -> Tensor:
        with torch.no_grad():
            own: Tensor = self.estimator.masks(self.distribution(trial), (1, self.objective.masks))
        return own

    def _polish_loss(self, trial: Trial) -> Tensor:
        return self.objective(replace(trial, predicted=self.predict(trial, self._own_masks(trial)))).mean()

    def _predictor_loss(self, trial: Trial) -> Tensor:
        return self.objective(replace(trial, predicted=self.predict(trial, self._training_masks(trial)))).mean()

    def _adversary_loss(self, trial: Trial) -> Tensor:
        return self._infidelity(trial, self._training_masks(trial), trial.target).mean()

    def _baseline_cost(self, trial: Trial) -> Tensor:
        """The baseline's cost (b,) of full rows."""
        assert self.baseline is not None
        return cross_entropy(trial.target, self.baseline(trial.x, torch.ones_like(trial.x)))

    def _baseline_loss(self, trial: Trial) -> Tensor:
        return self._baseline_cost(trial).mean()

    def _selector_loss(self, trial: Trial) -> Tensor:
        trial = replace(trial, p=self.distribution(trial))
        with torch.no_grad():
            baseline = None if self.baseline is None else self._baseline_cost(trial)
        loss: Tensor = self.estimator(trial.p, lambda mask: self.cost(trial, mask), baseline, group=self.objective.masks)
        return loss + self._penalty(trial)

    def _penalty(self, trial: Trial) -> Tensor:
        total = torch.zeros((), device=trial.x.device)
        for term in self.penalties:
            total = total + term(trial).mean()
        return total

    def _selector_check(self, trial: Trial) -> Tensor:
        trial = replace(trial, p=self.distribution(trial))
        masks = self.estimator.masks(trial.p, (1, self.objective.masks))
        return self.cost(trial, masks).mean() + self._penalty(trial)

    def refuse_misfit(self, trial: Trial) -> None:
        """Run every step on a few rows, so that parts that do not fit refuse before training starts."""
        with check.eaten("selector", trial.x):
            logits = self.selector.logits(trial.x, trial.context)
        check.logits_fit(logits, (len(trial), self.features.count))
        with check.eaten("predictor", trial.x):
            predicted = self.predictor(trial.x, torch.ones_like(trial.x, dtype=torch.bool))
        check.prediction_fits(predicted, len(trial), self.predictor.outputs)
        p = self.distribution(trial)
        check.shows_what_it_keeps(p)
        check.estimator_fits(self.estimator, p, self.predictor)
        check.logits_fit(p.logits, (len(trial), self.features.count))
        for phase in self.phases():
            if phase.prepare is not None:  # its goals would move the threshold; what they are made of must work
                self.change(trial, torch.ones(1, 1, len(trial), self.features.count, dtype=torch.bool, device=trial.x.device))
            for step in phase.steps:
                step.loss(replace(trial, goal=p.logits.detach()))

    # ---- what it says ----

    @torch.no_grad()
    def explain(
        self,
        x: Tensor,
        context: Tensor | None = None,
        valid: Tensor | None = None,
        *,
        to_cpu: bool = False,
        meanwhile: Callable[[], None] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Scores and masks, both (b, d), in one forward pass of the selector; on its device, or on the CPU.

        Args:
            x: encoded rows.
            context: what the selector may see of a model's output.
            valid: (b, d) of bool, false where there is no feature.
            to_cpu: bring both to the CPU, which waits for the device.
            meanwhile: what to do once before results are waited for, while a device is at work.
        """
        family = self.selector.family
        if to_cpu and x.device.type != "cpu" and len(x) * self.features.count <= FEW and not isinstance(family, nn.Module):
            if meanwhile is not None:
                meanwhile()
            p = family(scores_on_cpu(self.selector, x, context), None if valid is None else valid.cpu())
            return p.scores, p.mode
        p = self.selector(x, context, valid)
        scores, mask = p.scores, p.mode
        if meanwhile is not None:
            meanwhile()
        return (scores.cpu(), mask.cpu()) if to_cpu else (scores, mask)

    @torch.no_grad()
    def probabilities(self, x: Tensor, mask: Tensor) -> Tensor:
        """Class probabilities (b, c), or values (b, 1), from what a mask (b, d) shows, averaged over imputations.

        Every row meets the same noise, so that its prediction does not depend on the rows beside it.
        """
        draws = TEST_IMPUTATIONS if getattr(self.imputer, "random", True) else 1
        raw = self.features.expand(mask)

        def fill(row: Tensor, shown: Tensor) -> Tensor:
            filled: Tensor = self.imputer(row.expand(draws, *row.shape), shown.expand(draws, *shown.shape))
            return filled

        filled = torch.vmap(fill, out_dims=1, randomness="same")(x, raw)  # (draws, b, ...)
        shown = raw.expand(draws, *raw.shape)
        predicted = self.predictor(filled.flatten(0, 1), shown.flatten(0, 1))
        means: Tensor = predicted.mean[:, None] if self.predictor.outputs.real else predicted.probs
        return means.reshape(draws, len(x), -1).mean(0)
