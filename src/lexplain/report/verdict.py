"""The meaning of a verdict, its certainty, and what would change it: as text and as zones of a number line."""

from __future__ import annotations

from math import ceil, expm1, floor, inf, isfinite, isnan, log10

from lexplain.auditing import Card
from lexplain.measures import Estimate

from .formatting import format_number, pluralise

LOOKS = {"honest": ("good", "✓"), "encodes": ("bad", "✗"), "off the data": ("warn", "!"), "cannot tell": ("unsure", "?")}
MEANINGS = {
    "honest": "The choice of features reveals no more about the target than their values do.",
    "encodes": "The choice of features itself reveals the target, so the accuracy from these features is higher than their values justify.",
    "off the data": "Rows with hidden features look unlike real rows, so the model was tested outside its data.",
    "cannot tell": "These rows are not enough to decide: the explanation may be honest, or it may encode the target.",
}
TOO_WEAK = "evaluators too weak"  # a fourth zone, because more information does not make a good evaluator worse
MAX_FACTOR = 1000  # times the number of rows; to advise more rows than that would not help


def verdict_style(verdict: str) -> tuple[str, str]:
    """The style of a verdict and its sign, which identifies it without colour."""
    return LOOKS.get(verdict, LOOKS["cannot tell"])


def zones(estimate: Estimate, margin: float) -> list[tuple[str, float, float]]:
    """Zones (word, start, end) of the number line: the verdict on an estimate there, with an interval of the same width."""
    below, above = estimate.mean - estimate.low, estimate.high - estimate.mean
    ends = (-inf, -margin - above, margin - above, margin + below, inf)
    return list(zip((TOO_WEAK, "honest", "cannot tell", "encodes"), ends[:-1], ends[1:], strict=True))


def zone_of(estimate: Estimate, margin: float) -> str:
    """The zone of an estimate, by the rule of the encoding test; empty if nothing was measured."""
    if not all(isfinite(end) for end in (estimate.mean, estimate.low, estimate.high)):
        return ""
    if estimate.low > margin:
        return "encodes"
    if estimate.high < -margin:
        return TOO_WEAK
    return "honest" if estimate.high < margin else "cannot tell"


def rows_to_settle(estimate: Estimate, margin: float) -> float:
    """Number of rows that a clear verdict needs, if the estimate stays and the interval narrows as one over their square root.

    Example:
        >>> rows_to_settle(Estimate(0.07, 0.03, 0.11, n=100), 0.05)  # the interval must become half as wide
        400.0
    """
    gap = estimate.mean - margin
    side = estimate.mean - estimate.low if gap > 0 else estimate.high - estimate.mean
    return estimate.n * (side / gap) ** 2 if gap else inf


def certainty_text(estimate: Estimate, margin: float) -> str:
    """The distance of the encoding from another verdict, and the number of rows that an open one needs, as text."""
    zone = zone_of(estimate, margin)
    if not zone:
        return "The encoding could not be measured, so it is unknown how certain the verdict is."
    if zone == TOO_WEAK:
        return (
            "The mask-aware reader was worse than the mask-agnostic one by more than the margin. (Both predict the target from the kept "
            "features; only the mask-aware one was trained on each row's own mask.) More information should not hurt, so both need more "
            "training rows. A narrower interval would not help."
        )
    if zone == "cannot tell":
        return _open(estimate, margin)
    near, side = (estimate.low, "above") if zone == "encodes" else (estimate.high, "below")
    return f"The end of the interval that is nearer to the margin is {format_number(abs(near - margin))} nats {side} it."


def _open(estimate: Estimate, margin: float) -> str:
    needed, side = rows_to_settle(estimate, margin), "above" if estimate.mean > margin else "below"
    begin = "The margin is inside the interval, which narrows with the square root of the number of rows."
    if not needed <= MAX_FACTOR * estimate.n:
        return f"{begin} The estimate is so close to the margin that no practical number of rows would separate them."
    count = pluralise(_rounded_up(needed), "row")
    return (
        f"{begin} If the estimate stays at {format_number(estimate.mean)} nats, about {count} are needed for an interval that is "
        f"entirely {side} the margin. This audit had {estimate.n:,}."
    )


def _rounded_up(rows: float) -> int:
    """Rows rounded up to two digits, because the number is a guess."""
    step = int(10 ** max(0, floor(log10(max(1.0, rows))) - 1))
    return step * ceil(round(rows / step, 6))


def margin_words(margin: float) -> str:
    """A margin as text."""
    return f"{margin:g} nats: the choice of features may make the correct class {expm1(margin):.1%} more probable, on average"


def p_value_words(card: Card) -> str:
    """The p-value as text, from the side of the verdict."""
    p = card.p_value
    if isnan(p):
        return "not computed"
    text = "p < 0.001" if p < 0.001 else "p > 0.999" if p > 0.999 else f"p = {p:.3f}"
    low = card.encodes is False
    seen = "as low as this" if low else "as high as this"
    return f"{text}: if the encoding were exactly the margin, an estimate {seen} would occur in {_chance(1 - p if low else p)} audits"


def _chance(p: float) -> str:
    if p < 0.001 or p > 0.999:
        return "fewer than 1 of 1,000" if p < 0.5 else "more than 999 of 1,000"
    return f"about {1000 * p:.0f} of 1,000" if p < 0.01 or p > 0.99 else f"about {100 * p:.0f} of 100"
