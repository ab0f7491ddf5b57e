"""The page of an audit: the verdict first, then the evidence."""

from __future__ import annotations

from math import isfinite, isnan

import pandas as pd

from lexplain.auditing import Card, CardLine
from lexplain.core import Explanation
from lexplain.measures import Estimate

from .explanation_page import pictures, row_by_row, summary
from .figures.certainty import certainty
from .figures.kept_tradeoff import kept_tradeoff
from .formatting import pluralise
from .page import TEMPLATES, Section, page
from .rows import has_features, spread_rows
from .verdict import MEANINGS, certainty_text, margin_words, p_value_words, verdict_style, zone_of

SHOWN_ROWS, SHOWN_FEATURES = 6, 8
ZONES = (
    "The dot is the estimate, and the bar is its confidence interval. The colours show which verdict an estimate would get at each "
    "position, with an interval of the same width."
)
ENCODING_ALONE = "This is about the encoding alone; the verdict also depends on the measures below."
CURVE = (
    "The curve shows the accuracy of a judge that sees only the features with the highest scores of each row. A curve that is high "
    "on the left is good. The orange mark is the explanation itself. It can lie off the curve, because the explanation may keep other "
    "features than those with the highest scores, and because another judge evaluates it."
)
EVIDENCE = (
    "Every number is measured on rows that the judges did not learn from. Intervals are 95% confidence intervals, unless another level "
    "is given."
)
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


def card_page(card: Card, *, version: str = "", date: str = "") -> str:
    """A self-contained page of a card: the verdict and how sure it is, what is kept and known, every number with how to read it."""
    explained = card.explanation if card.explanation is not None and has_features(card.explanation) else None
    sections = [*_sure(card), *_tradeoff(card), *([] if explained is None else _explained(explained))]
    if card.lines:
        sections.append(Section("The measures", EVIDENCE, html=measures_html(card)))
    title = f"Audit of {card.method}" if card.method else "Audit of an explanation"
    lead = f"{pluralise(card.rows, 'row')} judged." if card.explanation is None else summary(card.explanation)
    return page(title, lead, sections, top=_verdict(card), version=version, date=date)


def _verdict(card: Card) -> str:
    style, sign = verdict_style(card.verdict)
    why = f"{card.why[:1].upper()}{card.why[1:]}{'' if card.why.endswith('.') else '.'}"
    facts = [("Rows judged", f"{card.rows:,}"), ("Margin", margin_words(card.margin)), ("p-value", p_value_words(card))]
    return TEMPLATES.get_template("verdict.html").render(
        verdict=card.verdict, look=style, sign=sign, meaning=MEANINGS.get(card.verdict, ""), why=why, facts=facts
    )


def _sure(card: Card) -> list[Section]:
    estimate = estimate_of(card, "encoding")
    if estimate is None:
        return []
    zone = zone_of(estimate, card.margin)
    alone = [ENCODING_ALONE] if card.verdict not in (zone, "cannot tell") else []
    text = "\n\n".join([certainty_text(estimate, card.margin), *alone, *([ZONES] if zone else [])])
    return [Section("How certain the verdict is", text, [certainty(estimate, margin=card.margin)] if zone else [])]


def _tradeoff(card: Card) -> list[Section]:
    table = None if card.tradeoff is None else card.tradeoff.dropna(subset=["kept", "eacc"])
    if table is None or table.empty:
        return []
    whole, own = estimate_of(card, "acc_all"), _own_point(card)
    every = float(table.sort_values("kept")["eacc"].iloc[-1]) if whole is None or not isfinite(whole.mean) else whole.mean
    text = "\n\n".join([_known(table, own, every), CURVE])
    return [Section("Accuracy against the number of features kept", text, [kept_tradeoff(table, own=own, every=every)])]


def _own_point(card: Card) -> tuple[float, float, float, float] | None:
    """The features kept on average and the judge's accuracy with its interval."""
    eacc, kept = estimate_of(card, "eacc"), estimate_of(card, "kept")
    explained = card.explanation if card.explanation is not None and len(card.explanation) else None
    many = kept.mean if kept is not None else float(explained.mask.float().sum(1).mean()) if explained is not None else float("nan")
    return None if eacc is None or not isfinite(many + eacc.mean) else (many, eacc.mean, eacc.low, eacc.high)


def _known(table: pd.DataFrame, own: tuple[float, float, float, float] | None, every: float) -> str:
    said = f"From all features the judge is right in {every:.1%} of the rows."
    if own is not None:
        said = f"From the {own[0]:.1f} features that the explanation keeps, the judge is right in {own[1]:.1%} of the rows. {said}"
    enough = table.loc[table["high"] >= every, "kept"].min()
    few = f"{pluralise(int(enough), 'feature')}" if pd.notna(enough) else ""
    return f"{said} The interval of the curve first reaches that with {few}, chosen by score." if few else said


def _explained(explanation: Explanation) -> list[Section]:
    rows = spread_rows(explanation, SHOWN_ROWS)
    which = (
        f"{pluralise(len(rows), 'row')} of {len(explanation):,}, from the lowest prediction to the highest."
        if explanation.compute_prediction
        else ""
    )
    which = which or f"{pluralise(len(rows), 'row')} of {len(explanation):,}, evenly spread."
    some = row_by_row(explanation, rows, title="Example rows", before=which, after="", most=SHOWN_FEATURES)
    return [some, *pictures(explanation)]


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


def _word(line: CardLine) -> str:
    return " ".join(line.group.replace("_", " ").lower().split())


def _unknown(card: Card) -> list[tuple[str, str, str]]:
    known = {"", *(word for word, *_ in GROUPS)}
    words = dict.fromkeys(word for word in map(_word, card.lines) if word not in known)
    return [(word, f"{word[:1].upper()}{word[1:]}", "") for word in words]


def _line(line: CardLine, rows: int) -> dict[str, str]:
    estimate, said = line.estimate, {"label": line.label, "better": BETTER[line.higher_is_better], "description": line.description}
    if isnan(estimate.mean):
        return {**said, "value": "not measured", "interval": "–"}
    scale, unit, digits = (100, "%", 1) if line.percent else (1, "", 3)
    low, mean, high = (
        f"{round(scale * value, digits) + 0.0:.{digits}f}" for value in (estimate.low, estimate.mean, estimate.high)
    )  # no -0.0
    notes = [f"{estimate.level:.0%}"] if estimate.level != 0.95 else []
    notes += [pluralise(estimate.n, "row")] if estimate.n != rows else []
    interval = f"{low} to {high}" if not (isnan(estimate.low) or isnan(estimate.high)) else "–"
    return {**said, "value": f"{mean}{unit}", "interval": interval + (f" ({', '.join(notes)})" if notes else "")}
