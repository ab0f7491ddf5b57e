"""What a verdict means, how sure it is, and what would change it: in words and as zones of a number line."""

from __future__ import annotations

from math import ceil, expm1, floor, inf, isfinite, isnan, log10

from lexplain.auditing import Card
from lexplain.measures import Estimate

from .formatting import format_number, pluralise

LOOKS = {"honest": ("good", "✓"), "encodes": ("bad", "✗"), "off the data": ("warn", "!"), "cannot tell": ("unsure", "?")}
MEANINGS = {
    "honest": "The choice of features reveals no more about the answer than their values do.",
    "encodes": "The choice of features reveals the answer by itself, so accuracy with these masks overstates what the features say.",
    "off the data": "Hidden features were filled with values that real rows do not have, so the model was tested on unusual rows.",
    "cannot tell": "These rows are not enough to decide: the explanation may be honest, or it may encode the answer.",
}
TOO_WEAK = "judges too weak"  # a fourth zone: knowing more cannot make a good judge worse
FAR = 1000  # times the rows there are: more is no advice


def verdict_style(verdict: str) -> tuple[str, str]:
    """The style of a verdict and its sign, which tells it apart without colour."""
    return LOOKS.get(verdict, LOOKS["cannot tell"])


def zones(estimate: Estimate, margin: float) -> list[tuple[str, float, float]]:
    """What would be said of an estimate at each place of the number line, were its interval as wide there: (word, from, to)."""
    below, above = estimate.mean - estimate.low, estimate.high - estimate.mean
    ends = (-inf, -margin - above, margin - above, margin + below, inf)
    return list(zip((TOO_WEAK, "honest", "cannot tell", "encodes"), ends[:-1], ends[1:], strict=True))


def zone_of(estimate: Estimate, margin: float) -> str:
    """The zone that an estimate lies in, by the rule of the encoding test; empty where nothing was measured."""
    if not all(isfinite(end) for end in (estimate.mean, estimate.low, estimate.high)):
        return ""
    if estimate.low > margin:
        return "encodes"
    if estimate.high < -margin:
        return TOO_WEAK
    return "honest" if estimate.high < margin else "cannot tell"


def rows_to_settle(estimate: Estimate, margin: float) -> float:
    """Rows after which the interval no longer holds the margin, if the estimate stays and the interval narrows as one over their root.

    Example:
        >>> rows_to_settle(Estimate(0.07, 0.03, 0.11, n=100), 0.05)  # must narrow to half its width
        400.0
    """
    gap = estimate.mean - margin
    side = estimate.mean - estimate.low if gap > 0 else estimate.high - estimate.mean
    return estimate.n * (side / gap) ** 2 if gap else inf


def certainty_text(estimate: Estimate, margin: float) -> str:
    """How far the encoding is from another verdict, and how many rows would settle an open one."""
    zone = zone_of(estimate, margin)
    if not zone:
        return "The encoding could not be measured, so it is unknown how certain the verdict is."
    if zone == TOO_WEAK:
        return (
            "A judge that sees the masks did worse than one that does not, by more than the margin. More information should not harm, so "
            "the judges learned too little. They need more rows to learn from; a narrower interval would not help."
        )
    if zone == "cannot tell":
        return _open(estimate, margin)
    near, side = (estimate.low, "above") if zone == "encodes" else (estimate.high, "below")
    return f"The end of the interval that is nearer to the margin lies {format_number(abs(near - margin))} nats {side} it."


def _open(estimate: Estimate, margin: float) -> str:
    needed, side = rows_to_settle(estimate, margin), "above" if estimate.mean > margin else "below"
    begin = "The margin lies inside the interval, which narrows with the square root of the number of rows."
    if not needed <= FAR * estimate.n:
        return f"{begin} The estimate is so close to the margin that no sensible number of rows would separate them."
    said = pluralise(_rounded_up(needed), "row")
    return (
        f"{begin} If the estimate stays at {format_number(estimate.mean)} nats, roughly {said} would place it wholly {side} the margin; "
        f"here there were {estimate.n:,}."
    )


def _rounded_up(rows: float) -> int:
    """To two digits: more would claim to know."""
    step = int(10 ** max(0, floor(log10(max(1.0, rows))) - 1))
    return step * ceil(round(rows / step, 6))


def margin_words(margin: float) -> str:
    """What a margin lets pass."""
    return f"{margin:g} nats: knowing the masks may make the right answer {expm1(margin):.1%} more probable, on average"


def p_value_words(card: Card) -> str:
    """What the p-value says, from the side that the verdict takes."""
    p = card.p_value
    if isnan(p):
        return "not computed"
    shown = "p < 0.001" if p < 0.001 else "p > 0.999" if p > 0.999 else f"p = {p:.3f}"
    low = card.encodes is False
    seen = "as low as this" if low else "as high as this"
    return f"{shown}: if the masks revealed exactly the margin, an estimate {seen} would occur in {_chance(1 - p if low else p)} audits"


def _chance(p: float) -> str:
    if p < 0.001 or p > 0.999:
        return "fewer than 1 of 1,000" if p < 0.5 else "more than 999 of 1,000"
    return f"about {1000 * p:.0f} of 1,000" if p < 0.01 or p > 0.99 else f"about {100 * p:.0f} of 100"
