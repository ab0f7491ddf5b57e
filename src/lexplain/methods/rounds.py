"""Learning by rounds: the predictor, then what each feature is worth to it, then the predictor again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log, log2

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Normal
from torch.nn.functional import mse_loss

from ..core import Trial
from ..estimators import MarginalGains
from ..masks import Bernoulli
from ..predictors import Trained
from .method import Method
from .step import Phase, Step

LEAST, MOST = 2e-4, 0.5  # nats between which gains are told apart; what lies beyond is surely dropped, or surely kept
FEW = 5  # features that a first guess expects to be left
FIRST_POLICY = log(4.0)  # log-odds of being on before anything is known: mostly on, since interactions show in company alone


@dataclass(frozen=True)
class Rounds:
    """Alternate between a predictor and a selector that regresses the gain of each feature.

    Each round draws anew what the selector finds worthless, so that the predictor cannot lean on it. The gain is taken outside the log,
    so that a prediction has to hold whatever the hidden features are.

    Args:
        gains: how gains are measured.
        rows: on how many rows.
        rounds: how often the predictor learns again from what the selector keeps; None: as often as it takes to halve the features
            down to a few, and twice more.
        lenience: the predictor keeps what is worth this share of the price, since what it never sees it cannot learn again.
        decay: weight decay of the first predictor, which sees every column and must not read noise into them, of the later ones, and
            of the selector, whose goals are noisy.
        price: nats that a feature has to be worth; None: `share` of what the predictor knows, in nats.
        share: see price.
        rate: share of the features to keep, instead of a price.
        rests: leave the predictor as it is after its first training.
    """

    gains: MarginalGains
    rows: int = 4000
    rounds: int | None = None
    price: float | None = None
    share: float = 0.025
    rate: float | None = None
    rests: bool = False
    lenience: float = 0.5
    decay: tuple[float, float, float] = (1.0, 0.03, 1.0)

    def __call__(self, method: Method) -> list[Phase]:
        """The phases of a method: predictor, gains, predictor, gains, ..."""
        trained = isinstance(method.predictor, Trained)
        phases = [self._predictor(method, first=True)] if trained else []
        phases.append(self._selector(method, 0))
        rounds = 2 + max(1, ceil(log2(method.features.count / FEW))) if self.rounds is None else self.rounds
        for place in range(1, rounds + 1):
            phases += [self._predictor(method, first=False)] if trained and not self.rests else []
            phases.append(self._selector(method, place))
        whole = sum(phase.share for phase in phases)
        return [replace(phase, share=phase.share / whole) for phase in phases]

    def _predictor(self, method: Method, *, first: bool) -> Phase:
        def loss(trial: Trial) -> Tensor:
            if first:
                mask = torch.ones(len(trial), method.features.count, dtype=torch.bool, device=trial.x.device)
            else:
                assert trial.goal is not None
                mask = trial.goal > 0
            mask = mask if trial.valid is None else mask & trial.valid
            predicted = method.predict(trial, mask[None, None])
            return method.objective(replace(trial, predicted=predicted)).mean()

        step = Step("predictor", method.predictor, loss, loss, method.objective.imputations, 2.0, self.decay[0 if first else 1])
        return Phase("predictor", (step,), 2.0 if first else 1.0, prepare=None if first else self._lenient(method))

    def _lenient(self, method: Method) -> Callable[[Trial, int], Tensor]:
        """What a predictor is shown is above 0; the selector rests while it learns, so that it is asked once."""

        @torch.no_grad()
        def shown(trial: Trial, max_rows: int) -> Tensor:
            method.eval()
            return torch.cat([method.selector.logits(part.x, part.context) for part in trial.parts(max_rows)]) - log(self.lenience)

        return shown

    def _selector(self, method: Method, place: int) -> Phase:
        def loss(trial: Trial) -> Tensor:
            assert trial.goal is not None
            return mse_loss(method.selector.logits(trial.x, trial.context), trial.goal + method.selector.offset)

        step = Step("selector", method.selector, loss, loss, decay=self.decay[2])
        return Phase("gains", (step,), 0.4, most_rows=self.rows, prepare=self._goals(method, place))

    def _goals(self, method: Method, place: int) -> Callable[[Trial, int], Tensor]:
        @torch.no_grad()
        def goals(trial: Trial, max_rows: int) -> Tensor:
            method.eval()
            step = max(1, max_rows // (1 + min(self.gains.at_once, method.features.count)))
            found = torch.cat([part_goals(part) for part in trial.parts(step)])
            method.selector.offset.fill_(-self._threshold(method, trial, found.cpu().numpy(), place))
            return found

        def part_goals(part: Trial) -> Tensor:
            p = method.distribution(part)
            if place == 0:
                p = Bernoulli(torch.full_like(p.logits, FIRST_POLICY), p.valid)
            return self.gains(p, lambda mask: method.change(part, mask)).clamp(LEAST, MOST).log()

        return goals

    def _threshold(self, method: Method, trial: Trial, goals: np.ndarray, place: int) -> float:
        """The log-gain that the next round asks of a feature; no round drops more than half of what is left."""
        gently = float(np.quantile(goals, 1 - 0.5 ** (place + 1)))
        if self.rate is not None:
            return min(gently, float(np.quantile(goals, 1 - self.rate)))
        price = self.share * knowledge(method, trial) if self.price is None else self.price
        return min(gently, log(max(price, LEAST)))


def knowledge(method: Method, trial: Trial, *, most: int = 10_000) -> float:
    """What a predictor knows of rows, in nats: how far its predictions lie from their mean."""
    x = trial.x[:most]
    whole = method.predictor(x, torch.ones_like(x, dtype=torch.bool))
    if isinstance(whole, Normal):
        return float((whole.loc - whole.loc.mean()).square().mean()) / 2
    probabilities = whole.probs
    mean = probabilities.mean(0)
    return float((probabilities * (whole.logits - mean.log())).sum(-1).mean())
