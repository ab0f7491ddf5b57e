"""Training in rounds: the predictor, then the gain of each feature for it, then the predictor again."""

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
from .screen import MAX_GAIN, MIN_GAIN, SCREENED_FROM, SCREENED_TO, ColumnScreen, drop_half, screening_rounds, see_all, unscreened_features

if TYPE_CHECKING:
    from ..method import Method

EXPECTED_KEPT = 5  # features that are expected to remain after all rounds
FIRST, GAINS = 2.0, 0.4  # length of the predictor's first training, and of a selector's training; 1 is a later training of the predictor
FIRST_POLICY = log(4.0)  # initial log-odds of being visible: mostly visible, since interactions need other features


@dataclass(frozen=True)
class Rounds:
    """Alternate between training a predictor and training a selector on the gain of each feature.

    Each round resamples the features with a low gain, so that the predictor cannot rely on them. The gain is computed outside the log,
    so that a prediction has to hold whatever the hidden features are.

    Args:
        gains: Estimator of the gains.
        rows: Number of rows on which gains are measured.
        rounds: How often the predictor is trained again on the features that the selector keeps. None: as often as it takes to halve
            the features down to a few, plus two. More rounds take longer.
        members_per_row: How many members of an ensemble are trained on each row of a step.
        slack: Share of the price above which the predictor still sees a feature. It cannot relearn features that it never sees.
        decay: Weight decay of the first predictor (it sees all columns and must not fit noise), of the later predictors, and of the
            selector (its targets are noisy).
        whole: Share of the rows, resampled at every step, that later predictors see with all features, so that they can relearn features.
        price: Gain in nats above which a feature is kept. None: `share` of the predictor's information.
        share: Price as a share of the predictor's information about the target. Used if price is None.
        rate: Share of the features to keep, instead of a price.
        freeze: Whether to freeze the predictor after its first training.
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
    whole: float = 0.2

    measures_gains: ClassVar[bool] = True
    supports_mask_costs: ClassVar[bool] = False

    @property
    def chooses_price(self) -> bool:
        """Whether neither a price nor a rate is set."""
        return self.price is None and self.rate is None

    def phases(self, method: Method) -> list[Phase]:
        """The phases of training: predictor, gains, predictor, gains, ..."""
        phases = self._first(method) if isinstance(method.predictor, Trained) else []
        phases.append(self._selector(method, 0))
        for index in range(1, self.count(method) + 1):
            phases += self._round(method, index)
        return self._shared(method, phases)

    def _round(self, method: Method, index: int) -> list[Phase]:
        trained = isinstance(method.predictor, Trained) and not self.freeze
        return [self._predictor(method), self._selector(method, index)] if trained else [self._selector(method, index)]

    def _shared(self, method: Method, phases: list[Phase]) -> list[Phase]:
        """Scale the shares of the phases, so that the default rounds add up to 1. Additional rounds take longer."""
        rounds = default_rounds(method.features.count)
        total = GAINS + rounds * sum(phase.share for phase in self._round(method, 1))
        total += FIRST if isinstance(method.predictor, Trained) else 0
        return [replace(phase, share=phase.share / total) for phase in phases]

    def count(self, method: Method) -> int:
        """The number of rounds."""
        return default_rounds(method.features.count) if self.rounds is None else self.rounds

    def _first(self, method: Method) -> list[Phase]:
        """Train the predictor on full rows. For wide tables: on all columns, then on the better half of them, and so on."""
        first = self._predictor(method, first=True)
        network = getattr(method.predictor, "network", None)
        # Screening leaves at least twice the requested number of features to choose from.
        min_features = SCREENED_TO if self.rate is None else max(SCREENED_TO, ceil(2 * self.rate * method.features.count))
        halvings = screening_rounds(method.features.count, min_features) if isinstance(network, ColumnScreen) else 0
        if not halvings:
            return [first]
        starts = [see_all(method), *(drop_half(method, min_features, last=index == halvings) for index in range(1, halvings + 1))]
        return [replace(first, on_start=start) for start in starts]

    def with_frozen_predictor(self) -> Rounds:
        """The same plan with a predictor that is frozen after its first training."""
        return replace(self, freeze=True)

    def check_parts(self, method: Method, p: MaskDistribution) -> None:
        """Do nothing: gains can be measured with any masks and any predictor."""

    def extra_round(self, method: Method, price: float) -> list[Phase]:
        """The phases of one more round at a price chosen after the other rounds. Gains are measured among the features kept at it."""
        return self._shared(method, replace(self, price=price, rate=None)._round(method, self.count(method)))

    def _predictor(self, method: Method, *, first: bool = False) -> Phase:
        def validation_loss(batch: Batch, members_per_row: int = 1, whole: float = 0.0) -> Tensor:
            x, target, copies = batch.x, batch.target, members_per_row * method.objective.likelihood.imputations
            if copies > 1:
                repeated = torch.arange(len(x), device=x.device).repeat(copies)
                x, target = x[repeated], rows_of(target, repeated)
            if first:  # nothing is hidden, so nothing has to be imputed
                return cross_entropy(target, method.predictor(x, x.new_ones((), dtype=torch.bool).expand_as(x))).mean()
            encoded = encoded_mask(method.features, require_aux_target(batch) > 0, batch.valid).repeat(copies, *[1] * (x.dim() - 1))
            if whole:
                encoded = encoded | (torch.rand(len(encoded), *[1] * (x.dim() - 1), device=x.device) < whole)
            return cross_entropy(target, method.predictor(method.imputer(x, encoded), encoded)).mean()

        def loss(batch: Batch) -> Tensor:
            return validation_loss(batch, self.members_per_row, self.whole)

        copies = self.members_per_row * method.objective.likelihood.imputations
        assert isinstance(method.predictor, Trained)  # only these are trained
        step = Step("predictor", method.predictor, loss, validation_loss, copies, 2.0, self.decay[0 if first else 1])
        return Phase("predictor", (step,), FIRST if first else 1.0, make_aux_targets=None if first else self._visible_targets(method))

    def _visible_targets(self, method: Method) -> Callable[[Batch, int], Tensor]:
        """Make targets that are above 0 for the features a predictor sees. They are computed once: the selector is frozen meanwhile."""

        @torch.no_grad()
        def visible(batch: Batch, max_rows: int) -> Tensor:
            method.eval()
            return torch.cat([method.selector.logits(part.x, part.context, part.valid) for part in batch.chunks(max_rows)]) - log(
                self.slack
            )

        return visible

    def _selector(self, method: Method, index: int) -> Phase:
        def loss(batch: Batch) -> Tensor:
            network, target = method.selector.network, require_aux_target(batch) + method.selector.offset
            error = mse_loss(method.selector.logits(batch.x, batch.context, batch.valid), target, reduction="none")
            if batch.valid is not None:  # padding has no gain
                return error[batch.valid].mean()
            return error[:, network.places].mean() if isinstance(network, ColumnScreen) else error.mean()

        step = Step("selector", method.selector, loss, loss, decay=self.decay[2])
        return Phase("gains", (step,), GAINS, sample_rows=self.rows, make_aux_targets=self._gain_targets(method, index))

    def _gain_targets(self, method: Method, index: int) -> Callable[[Batch, int], Tensor]:
        @torch.no_grad()
        def targets(batch: Batch, max_rows: int) -> Tensor:
            method.eval()
            features = unscreened_features(method).nonzero()[:, 0]
            step = max(1, max_rows // (1 + min(self.gains.features_per_mask, len(features))))
            result = torch.cat([part_targets(part, features) for part in batch.chunks(step)])
            measured = result[:, features] if batch.valid is None else result[batch.valid]
            method.selector.offset.fill_(-self._threshold(method, batch, measured.cpu().numpy(), index))
            return result

        def part_targets(part: Batch, features: Tensor) -> Tensor:
            p = method.distribution(part)
            if index == 0:
                p = Bernoulli(torch.full_like(p.logits, FIRST_POLICY), p.valid)
            return self.gains(p, lambda mask: method.kl_to_full(part, mask), among=features).clamp(MIN_GAIN, MAX_GAIN).log()

        return targets

    def _threshold(self, method: Method, batch: Batch, log_gains: np.ndarray, index: int) -> float:
        """The log-gain above which the next round keeps a feature. No round drops more than half of the remaining features."""
        limit = float(np.quantile(log_gains, 1 - 0.5 ** (index + 1)))
        if self.rate is not None:
            return min(limit, float(np.quantile(log_gains, 1 - self.rate)))
        price = self.share * prediction_information(method, batch) if self.price is None else self.price
        return min(limit, log(max(price, MIN_GAIN)))


def require_aux_target(batch: Batch) -> Tensor:
    """The auxiliary targets (b, d) of a batch, computed at the start of the phase."""
    assert batch.aux_target is not None
    return batch.aux_target


def default_rounds(features: int) -> int:
    """Number of rounds to halve the features (for wide tables, those left by screening) down to a few, plus two."""
    return 2 + max(1, ceil(log2((features if features <= SCREENED_FROM else SCREENED_TO) / EXPECTED_KEPT)))


def prediction_information(method: Method, batch: Batch, *, most: int = 10_000) -> float:
    """The predictor's information about the target, in nats: mean divergence of its predictions from their average."""
    full = method.predict_full(batch.x[:most])
    if isinstance(full, Normal):
        return float((full.loc - full.loc.mean()).square().mean()) / 2
    assert isinstance(full, Categorical)
    probabilities = full.probs
    mean = probabilities.mean(0)
    return float((probabilities * (full.logits - mean.log())).sum(-1).mean())
