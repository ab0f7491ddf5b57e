"""The price of showing features."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..core import Trial


def rate_of(trial: Trial) -> Tensor:
    """The share (b,) of valid features that the selector expects to keep."""
    assert trial.p is not None
    mean = trial.p.mean
    return mean.mean(-1) if trial.valid is None else mean.sum(-1) / trial.valid.sum(-1).clamp_min(1)


@dataclass(frozen=True)
class Sparsity:
    """Charge for the features kept, in nats.

    Args:
        price: of keeping every feature (the papers' lambda, which their code multiplies with the MEAN), or of each one.
        each: charge `price` for each feature (the SUM, as the papers write it) rather than for all of them together.
        warmup: share of the training over which the price rises to its full height, so that masks do not empty before the
            predictor has learned.
    """

    price: float
    each: bool = False
    warmup: float = 0.0

    def __call__(self, trial: Trial) -> Tensor:
        """Cost (b,)."""
        ramp = min(1.0, trial.progress / self.warmup) if self.warmup else 1.0
        assert trial.p is not None
        kept = trial.p.mean.sum(-1) if self.each else rate_of(trial)
        return self.price * ramp * kept


@dataclass(frozen=True)
class TargetRate:
    """Charge for keeping more or fewer features than asked, on average over the rows in flight.

    A batch that `max_rows` splits is charged part by part, so that each part has to meet the rate.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix F.2 (its code's absolute rate loss).
    """

    rate: float
    price: float = 3.0

    def __call__(self, trial: Trial) -> Tensor:
        """Cost (b,)."""
        rates = rate_of(trial)
        return (self.price * (rates.mean() - self.rate).abs()).expand_as(rates)
