"""Learning by rounds: the predictor, then what each feature is worth to it, then the predictor again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log, log2
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical, Normal
from torch.nn.functional import mse_loss

from ...core import Batch, rows_of
from ...core.contracts import MaskDistribution
from ...estimators import MarginalGains
from ...features import encoded_mask
from ...masks import Bernoulli
from ...models import Trained
from ...objectives import cross_entropy
from .plan import Phase, Step
from .screen import MAX_GAIN, MIN_GAIN, SCREENED_FROM, SCREENED_TO, ColumnScreen, drop_half, screening_rounds, unscreened_features

if TYPE_CHECKING:
    from ..method import Method

EXPECTED_KEPT = 5  # features that a first guess expects to be left
FIRST, GAINS = 2.0, 0.4  # epochs of a predictor's first training, and of a selector's, for one of a predictor's later ones
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
            down to a few, and twice more. More rounds take longer.
        members_per_row: how many members of an ensemble each row teaches in a step.
        slack: the predictor keeps what is worth this share of the price, since what it never sees it cannot learn again.
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
    members_per_row: int = 1
    price: float | None = None
    share: float = 0.025
    rate: float | None = None
    freeze: bool = False
    slack: float = 0.5
    decay: tuple[float, float, float] = (1.0, 0.03, 1.0)

    measures_gains: ClassVar[bool] = True
    supports_mask_costs: ClassVar[bool] = False

    @property
    def chooses_price(self) -> bool:
        """Whether nobody said how much to keep."""
        return self.price is None and self.rate is None

    def phases(self, method: Method) -> list[Phase]:
        """The phases of a method: predictor, gains, predictor, gains, ..."""
        phases = self._first(method) if isinstance(method.predictor, Trained) else []
        phases.append(self._selector(method, 0))
        for place in range(1, self.count(method) + 1):
            phases += self._round(method, place)
        return self._shared(method, phases)

    def _round(self, method: Method, place: int) -> list[Phase]:
        learns = isinstance(method.predictor, Trained) and not self.freeze
        return [self._predictor(method), self._selector(method, place)] if learns else [self._selector(method, place)]

    def _shared(self, method: Method, phases: list[Phase]) -> list[Phase]:
        """The phases, with 1 as the share of all those of the usual rounds; what is asked for beyond them takes longer."""
        usual = default_rounds(method.features.count)
        whole = GAINS + usual * sum(phase.share for phase in self._round(method, 1))
        whole += FIRST if isinstance(method.predictor, Trained) else 0
        return [replace(phase, share=phase.share / whole) for phase in phases]

    def count(self, method: Method) -> int:
        """How many rounds a method takes."""
        return default_rounds(method.features.count) if self.rounds is None else self.rounds

    def _first(self, method: Method) -> list[Phase]:
        """Train the predictor on full rows; of a wide table on all columns, on the better half of them, and so on."""
        first = self._predictor(method, first=True)
        network = getattr(method.predictor, "network", None)
        # Of what is asked for by number, twice as many stay to choose from.
        least = SCREENED_TO if self.rate is None else max(SCREENED_TO, ceil(2 * self.rate * method.features.count))
        halvings = screening_rounds(method.features.count, least) if isinstance(network, ColumnScreen) else 0
        screening = [
            replace(first, share=2 * first.share, on_start=drop_half(method, least) if place else None) for place in range(halvings)
        ]
        return [*screening, replace(first, on_start=drop_half(method, least) if halvings else None)]

    def with_frozen_predictor(self) -> Rounds:
        """The same plan for a predictor that rests after its first training."""
        return replace(self, freeze=True)

    def check_parts(self, method: Method, p: MaskDistribution) -> None:
        """Nothing: gains are measured with any masks and any predictor."""

    def extra_round(self, method: Method, price: float) -> list[Phase]:
        """One more round at a price that was chosen after the others: gains are measured in the company that it keeps."""
        return self._shared(method, replace(self, price=price, rate=None)._round(method, self.count(method)))

    def _predictor(self, method: Method, *, first: bool = False) -> Phase:
        def check(batch: Batch, members_per_row: int = 1) -> Tensor:
            x, target, copies = batch.x, batch.target, members_per_row * method.objective.likelihood.imputations
            if copies > 1:
                again = torch.arange(len(x), device=x.device).repeat(copies)
                x, target = x[again], rows_of(target, again)
            if first:  # nothing is hidden, so that nothing has to be drawn
                return cross_entropy(target, method.predictor(x, x.new_ones((), dtype=torch.bool).expand_as(x))).mean()
            raw = encoded_mask(method.features, require_aux_target(batch) > 0, batch.valid).repeat(copies, *[1] * (x.dim() - 1))
            return cross_entropy(target, method.predictor(method.imputer(x, raw), raw)).mean()

        def loss(batch: Batch) -> Tensor:
            return check(batch, self.members_per_row)

        copies = self.members_per_row * method.objective.likelihood.imputations
        assert isinstance(method.predictor, Trained)  # no other learns
        step = Step("predictor", method.predictor, loss, check, copies, 2.0, self.decay[0 if first else 1])
        return Phase("predictor", (step,), FIRST if first else 1.0, make_aux_targets=None if first else self._shown_goals(method))

    def _shown_goals(self, method: Method) -> Callable[[Batch, int], Tensor]:
        """What a predictor is shown is above 0; the selector rests while it learns, so that it is asked once."""

        @torch.no_grad()
        def shown(batch: Batch, max_rows: int) -> Tensor:
            method.eval()
            return torch.cat([method.selector.logits(part.x, part.context, part.valid) for part in batch.chunks(max_rows)]) - log(
                self.slack
            )

        return shown

    def _selector(self, method: Method, place: int) -> Phase:
        def loss(batch: Batch) -> Tensor:
            network, goal = method.selector.network, require_aux_target(batch) + method.selector.offset
            miss = mse_loss(method.selector.logits(batch.x, batch.context, batch.valid), goal, reduction="none")
            if batch.valid is not None:  # padding has no gain to regress
                return miss[batch.valid].mean()
            return miss[:, network.places].mean() if isinstance(network, ColumnScreen) else miss.mean()

        step = Step("selector", method.selector, loss, loss, decay=self.decay[2])
        return Phase("gains", (step,), GAINS, sample_rows=self.rows, make_aux_targets=self._goals(method, place))

    def _goals(self, method: Method, place: int) -> Callable[[Batch, int], Tensor]:
        @torch.no_grad()
        def goals(batch: Batch, max_rows: int) -> Tensor:
            method.eval()
            among = unscreened_features(method).nonzero()[:, 0]
            step = max(1, max_rows // (1 + min(self.gains.features_per_mask, len(among))))
            found = torch.cat([part_goals(part, among) for part in batch.chunks(step)])
            measured = found[:, among] if batch.valid is None else found[batch.valid]
            method.selector.offset.fill_(-self._threshold(method, batch, measured.cpu().numpy(), place))
            return found

        def part_goals(part: Batch, among: Tensor) -> Tensor:
            p = method.distribution(part)
            if place == 0:
                p = Bernoulli(torch.full_like(p.logits, FIRST_POLICY), p.valid)
            return self.gains(p, lambda mask: method.kl_to_full(part, mask), among=among).clamp(MIN_GAIN, MAX_GAIN).log()

        return goals

    def _threshold(self, method: Method, batch: Batch, goals: np.ndarray, place: int) -> float:
        """The log-gain that the next round asks of a feature; no round drops more than half of what is left."""
        gently = float(np.quantile(goals, 1 - 0.5 ** (place + 1)))
        if self.rate is not None:
            return min(gently, float(np.quantile(goals, 1 - self.rate)))
        price = self.share * prediction_information(method, batch) if self.price is None else self.price
        return min(gently, log(max(price, MIN_GAIN)))


def require_aux_target(batch: Batch) -> Tensor:
    """What a phase computed of each row (b, d) as it started."""
    assert batch.aux_target is not None
    return batch.aux_target


def default_rounds(features: int) -> int:
    """How many rounds it takes to halve the features, of a wide table those that screening leaves, down to a few, and two more."""
    return 2 + max(1, ceil(log2((features if features <= SCREENED_FROM else SCREENED_TO) / EXPECTED_KEPT)))


def prediction_information(method: Method, batch: Batch, *, most: int = 10_000) -> float:
    """What a predictor knows of rows, in nats: how far its predictions lie from their mean."""
    whole = method.predict_full(batch.x[:most])
    if isinstance(whole, Normal):
        return float((whole.loc - whole.loc.mean()).square().mean()) / 2
    assert isinstance(whole, Categorical)
    probabilities = whole.probs
    mean = probabilities.mean(0)
    return float((probabilities * (whole.logits - mean.log())).sum(-1).mean())
