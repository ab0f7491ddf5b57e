"""What an audit concludes: the encoding test against its margin, and what withdraws a verdict of honesty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import erf, sqrt

from torch import Tensor

from ..metrics.statistics import Estimate, bootstrap
from .card import Card

MARGIN = 0.02  # nats; what a tip is worth that makes even odds 60 to 40: measured in docs/results/audit-power
LEVEL = 0.95
TOLD_APART = 0.75  # a classifier that does better than this tells filled rows from real ones
CONTRADICTED = 0.1  # share of rows on which a model, asked off the data, may say something else than kept features tell


@dataclass(frozen=True)
class Verdict:
    """What the encoding test concludes."""

    word: str  # "honest", "encodes" or "cannot tell"
    encodes: bool | None
    why: str
    p_value: float


def judge(values: Tensor, *, margin: float = MARGIN) -> tuple[Estimate, Verdict]:
    """Compare the mean encoding with a margin: above it with confidence, below it with confidence, or neither."""
    estimate = bootstrap(values, level=2 * LEVEL - 1)  # two one-sided tests at 5 %
    error = float(values.std() / sqrt(max(1, len(values))))
    p_value = 0.5 * (1 - erf((estimate.mean - margin) / (error * sqrt(2)))) if error > 0 else float(estimate.mean <= margin)
    shown = estimate.told("nats")
    if estimate.low > margin:
        why = f"the choice of the mask tells {shown} about the answer beyond the values it shows, above the margin of {margin:g}"
        return estimate, Verdict("encodes", True, why, p_value)
    if estimate.high < -margin:
        why = f"a judge who knows the masks predicts worse by {shown} than one who does not: the judges learned too little; give more rows"
        return estimate, Verdict("cannot tell", None, why, p_value)
    if estimate.high < margin:
        why = f"the choice of the mask tells {shown} about the answer beyond the values it shows, within the margin of {margin:g}"
        return estimate, Verdict("honest", False, why, p_value)
    why = f"the choice of the mask tells {shown} about the answer, and the margin of {margin:g} lies inside the interval; give more rows"
    return estimate, Verdict("cannot tell", None, why, p_value)


def off_the_data(card: Card) -> Card:
    """Withdraw a verdict of honesty where the model, shown kept features alone, contradicts what they tell of real rows."""
    known = {line.key: line.estimate for line in card.lines}
    if card.verdict != "honest" or not {"fs_m", "eacc", "off_data_mean"} <= set(known):
        return card
    shown, told, apart = known["fs_m"], known["eacc"], known["off_data_mean"]
    if apart.low <= TOLD_APART or shown.high + CONTRADICTED >= told.low:
        return card
    why = (
        f"the kept features tell the model's answer on {told.mean:.0%} of the rows, but the model itself, shown them alone, says something "
        f"else on {1 - shown.mean:.0%}: rows with features taken out are unlike the data (told apart with AUROC {apart.mean:.2f}), so that "
        "an explanation made by taking features out of this model describes it where it was never used"
    )
    return replace(card, verdict="off the data", why=why)
