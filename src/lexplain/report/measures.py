"""The lines of a card as tables, one a group, in an order that a reader can follow."""

from __future__ import annotations

from math import isnan

from lexplain.auditing import Card, Line
from lexplain.metrics import Estimate

from .page import TEMPLATES
from .wording import count

# The word of a group, its heading, and what its lines are about; in the order of the page.
GROUPS = (
    ("honesty", "Does the choice of features reveal the answer?", ""),
    ("prediction", "How well the kept features predict the answer", ""),
    ("fidelity", "Does the explanation describe what the model does?", ""),
    ("selection", "How many features are kept", ""),
    ("truth", "Agreement with the features that really decide", "Measured only where these features are known."),
    ("off the data", "Do rows with hidden features still look real?", ""),
    ("stability", "Do similar rows, or another fit, get similar explanations?", ""),
    ("sanity", "Does the explanation depend on the model and the data at all?", ""),
    ("cost", "What it costs", ""),
)
OTHER = "Other measures"
BETTER = {True: "↑ higher", False: "↓ lower", None: "– neither"}


def estimate_of(card: Card, key: str) -> Estimate | None:
    """The estimate of one line of a card by its key, such as "eacc"; None where the card has no such line."""
    try:
        return card[key]
    except KeyError:
        return None


def measures_html(card: Card) -> str:
    """Every line of a card, grouped: known groups in their order, then others as they come, then lines without a group."""
    groups = [
        {"title": title, "about": about, "lines": [_line(line, card.rows) for line in card.lines if _word(line) == word]}
        for word, title, about in (*GROUPS, *_unknown(card), ("", OTHER, ""))
    ]
    return TEMPLATES.get_template("measures.html").render(groups=[group for group in groups if group["lines"]])


def _word(line: Line) -> str:
    return " ".join(line.group.replace("_", " ").lower().split())


def _unknown(card: Card) -> list[tuple[str, str, str]]:
    known = {"", *(word for word, *_ in GROUPS)}
    words = dict.fromkeys(word for word in map(_word, card.lines) if word not in known)
    return [(word, f"{word[:1].upper()}{word[1:]}", "") for word in words]


def _line(line: Line, rows: int) -> dict[str, str]:
    estimate, said = line.estimate, {"label": line.label, "better": BETTER[line.higher_is_better], "description": line.description}
    if isnan(estimate.mean):
        return {**said, "value": "not measured", "interval": "–"}
    scale, unit, digits = (100, "%", 1) if line.percent else (1, "", 3)
    low, mean, high = (
        f"{round(scale * value, digits) + 0.0:.{digits}f}" for value in (estimate.low, estimate.mean, estimate.high)
    )  # no -0.0
    notes = [f"{estimate.level:.0%}"] if estimate.level != 0.95 else []
    notes += [count(estimate.n, "row")] if estimate.n != rows else []
    interval = f"{low} to {high}" if not (isnan(estimate.low) or isnan(estimate.high)) else "–"
    return {**said, "value": f"{mean}{unit}", "interval": interval + (f" ({', '.join(notes)})" if notes else "")}
