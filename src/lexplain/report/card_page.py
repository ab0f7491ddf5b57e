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
ENCODING_ALONE = "This is about the encoding alone. The verdict also depends on the measures below."
CURVE = (
    "The curve shows the accuracy of EVAL-X, a network trained on random subsets of features, when it sees only the features with the "
    "highest scores of each row. A curve that is high on the left is good. The orange mark is the explanation itself. It can be off the "
    "curve, because the explanation may keep other features than those with the highest scores, and because its accuracy comes from "
    "another evaluator."
)
EVIDENCE = (
    "Every number is measured on rows that the evaluators were not trained on. Intervals are 95% confidence intervals, unless another "
    "level is given."
)
# The key of a group, its heading, and a text below it, in the order of the page.
GROUPS = (
    ("honesty", "Does the choice of features reveal the target?", ""),
    ("prediction", "How well do the kept features predict the target?", ""),
    ("fidelity", "Does the explanation describe the model?", ""),
    ("selection", "How many features are kept", ""),
    ("truth", "Agreement with the ground truth", "The ground truth is the set of features known to determine the label."),
    ("off the data", "Do rows with hidden features look like real rows?", ""),
    ("stability", "Do similar rows, or another fit, get similar explanations?", ""),
    ("sanity", "Does the explanation depend on the model and the data?", ""),
    ("cost", "Cost", ""),
)
OTHER = "Other measures"
BETTER = {True: "↑ higher", False: "↓ lower", None: "– neither"}


def card_page(card: Card, *, version: str = "", date: str = "") -> str:
    """Write a self-contained page of a card: the verdict and its certainty, kept features and accuracy, and all measures."""
    explained = card.explanation if card.explanation is not None and has_features(card.explanation) else None
    sections = [*_sure(card), *_tradeoff(card), *([] if explained is None else _explained(explained))]
    if card.lines:
        sections.append(Section("The measures", EVIDENCE, html=measures_html(card)))
    title = f"Audit of {card.method}" if card.method else "Audit of an explanation"
    lead = f"{pluralise(card.rows, 'row')} audited." if card.explanation is None else summary(card.explanation)
    return page(title, lead, sections, top=_verdict(card), version=version, date=date)


def _verdict(card: Card) -> str:
    style, sign = verdict_style(card.verdict)
    why = f"{card.why[:1].upper()}{card.why[1:]}{'' if card.why.endswith('.') else '.'}"
    facts = [("Rows audited", f"{card.rows:,}"), ("Margin", margin_words(card.margin)), ("p-value", p_value_words(card))]
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
    full, own = estimate_of(card, "acc_all"), _own_point(card)
    every = float(table.sort_values("kept")["eacc"].iloc[-1]) if full is None or not isfinite(full.mean) else full.mean
    text = "\n\n".join([_accuracies(table, own, every), CURVE])
    return [Section("Accuracy against the number of features kept", text, [kept_tradeoff(table, own=own, every=every)])]


def _own_point(card: Card) -> tuple[float, float, float, float] | None:
    """The average number of kept features, and EVAL-X's accuracy with its interval."""
    eacc, kept = estimate_of(card, "eacc"), estimate_of(card, "kept")
    explained = card.explanation if card.explanation is not None and len(card.explanation) else None
    many = kept.mean if kept is not None else float(explained.mask.float().sum(1).mean()) if explained is not None else float("nan")
    return None if eacc is None or not isfinite(many + eacc.mean) else (many, eacc.mean, eacc.low, eacc.high)


def _accuracies(table: pd.DataFrame, own: tuple[float, float, float, float] | None, every: float) -> str:
    text = f"From all features, EVAL-X is right in {every:.1%} of the rows."
    if own is not None:
        text = f"From the {own[0]:.1f} features that the explanation keeps, EVAL-X is right in {own[1]:.1%} of the rows. {text}"
    enough = table.loc[table["high"] >= every, "kept"].min()
    needed = f"{pluralise(int(enough), 'feature')}" if pd.notna(enough) else ""
    return f"{text} From the {needed} with the highest scores, the interval of the curve reaches this accuracy." if needed else text


def _explained(explanation: Explanation) -> list[Section]:
    rows = spread_rows(explanation, SHOWN_ROWS)
    lead = (
        f"{pluralise(len(rows), 'row')} of {len(explanation):,}, from the lowest prediction to the highest."
        if explanation.compute_prediction
        else ""
    )
    lead = lead or f"{pluralise(len(rows), 'row')} of {len(explanation):,}, evenly spread."
    examples = row_by_row(explanation, rows, title="Example rows", before=lead, after="", most=SHOWN_FEATURES)
    return [examples, *pictures(explanation)]


def estimate_of(card: Card, key: str) -> Estimate | None:
    """The estimate of a measure by its key, such as "eacc"; None if the card does not have it."""
    try:
        return card[key]
    except KeyError:
        return None


def measures_html(card: Card) -> str:
    """All measures of a card as HTML, by group: known groups first, then others, then measures without a group."""
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
    estimate, texts = line.estimate, {"label": line.label, "better": BETTER[line.higher_is_better], "description": line.description}
    if isnan(estimate.mean):
        return {**texts, "value": "not measured", "interval": "–"}
    scale, unit, digits = (100, "%", 1) if line.percent else (1, "", 3)
    low, mean, high = (
        f"{round(scale * value, digits) + 0.0:.{digits}f}" for value in (estimate.low, estimate.mean, estimate.high)
    )  # no -0.0
    notes = [f"{estimate.level:.0%}"] if estimate.level != 0.95 else []
    notes += [pluralise(estimate.n, "row")] if estimate.n != rows else []
    interval = f"{low} to {high}" if not (isnan(estimate.low) or isnan(estimate.high)) else "–"
    return {**texts, "value": f"{mean}{unit}", "interval": interval + (f" ({', '.join(notes)})" if notes else "")}
