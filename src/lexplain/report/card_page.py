"""The page of an audit: the verdict first, then the evidence."""

from __future__ import annotations

from math import isfinite

import pandas as pd

from lexplain.auditing import Card
from lexplain.core import Explanation
from lexplain.metrics import Estimate

from .explanation_page import pictures, row_by_row, summary
from .figures.certainty import certainty
from .figures.kept_tradeoff import kept_tradeoff
from .measures import measures_html
from .page import TEMPLATES, Section, page
from .rows import spread_rows
from .verdict import MEANINGS, look, margin_words, p_value_words, sureness, zone_of
from .wording import count

SHOWN_ROWS, SHOWN_FEATURES = 6, 8
ZONES = "The dot is the estimate, the bar its interval. The colours say what the verdict would be if the dot lay there with a bar as long."
ENCODING_ALONE = "This is about the encoding alone; the verdict also weighs what the measures below say."
CURVE = (
    "The curve is a judge's accuracy when it sees only the best features of each row, by score: high on the left is good. "
    "The mark is the explanation itself, which need not lie on the curve: it may keep others than the best, and its judge is another."
)
EVIDENCE = (
    "Every number comes from judges that have not seen the rows they judge. Intervals hold the true mean in 95 of 100 audits, "
    "or in as many as they say."
)


def card_page(card: Card, *, version: str = "", date: str = "") -> str:
    """A self-contained page of a card: the verdict and how sure it is, what is kept and known, every number with how to read it."""
    explained = card.explanation if card.explanation is not None and card.explanation.mask.numel() else None
    sections = [*_sure(card), *_tradeoff(card), *([] if explained is None else _explained(explained))]
    if card.lines:
        sections.append(Section("The measures", EVIDENCE, html=measures_html(card)))
    title = f"Audit of {card.method}" if card.method else "Audit of an explanation"
    lead = f"{count(card.rows, 'row')} judged." if card.explanation is None else summary(card.explanation)
    return page(title, lead, sections, top=_verdict(card), version=version, date=date)


def _verdict(card: Card) -> str:
    style, sign = look(card.verdict)
    why = f"{card.why[:1].upper()}{card.why[1:]}{'' if card.why.endswith('.') else '.'}"
    facts = [("Rows judged", f"{card.rows:,}"), ("Margin", margin_words(card.margin)), ("p-value", p_value_words(card))]
    return TEMPLATES.get_template("verdict.html").render(
        verdict=card.verdict, look=style, sign=sign, meaning=MEANINGS.get(card.verdict, ""), why=why, facts=facts
    )


def _sure(card: Card) -> list[Section]:
    estimate = _of(card, "Encoding")
    if estimate is None:
        return []
    zone = zone_of(estimate, card.margin)
    alone = [ENCODING_ALONE] if card.verdict not in (zone, "cannot tell") else []
    text = "\n\n".join([sureness(estimate, card.margin), *alone, *([ZONES] if zone else [])])
    return [Section("How sure is the verdict", text, [certainty(estimate, margin=card.margin)] if zone else [])]


def _tradeoff(card: Card) -> list[Section]:
    table = None if card.tradeoff is None else card.tradeoff.dropna(subset=["kept", "eacc"])
    if table is None or table.empty:
        return []
    whole, own = _of(card, "ACC, all features"), _own_point(card)
    every = float(table.sort_values("kept")["eacc"].iloc[-1]) if whole is None or not isfinite(whole.mean) else whole.mean
    text = "\n\n".join([_known(table, own, every), CURVE])
    return [Section("What is kept against what is known", text, [kept_tradeoff(table, own=own, every=every)])]


def _own_point(card: Card) -> tuple[float, float, float, float] | None:
    """The features kept on average and the judge's accuracy with its interval."""
    eacc, kept = _of(card, "eACC"), _of(card, "Kept")
    explained = card.explanation if card.explanation is not None and len(card.explanation) else None
    many = kept.mean if kept is not None else float(explained.mask.float().sum(1).mean()) if explained is not None else float("nan")
    return None if eacc is None or not isfinite(many + eacc.mean) else (many, eacc.mean, eacc.low, eacc.high)


def _known(table: pd.DataFrame, own: tuple[float, float, float, float] | None, every: float) -> str:
    said = f"From all features the judge is right in {every:.1%} of the rows."
    if own is not None:
        said = f"From the {own[0]:.1f} features that the explanation keeps, the judge is right in {own[1]:.1%} of the rows. {said}"
    enough = table.loc[table["high"] >= every, "kept"].min()
    few = f"{count(int(enough), 'feature')}" if pd.notna(enough) else ""
    return f"{said} The interval of the curve first reaches that with {few}, the best by score." if few else said


def _explained(explanation: Explanation) -> list[Section]:
    rows = spread_rows(explanation, SHOWN_ROWS)
    which = f"{count(len(rows), 'row')} of {len(explanation):,}, from the lowest prediction to the highest." if explanation.predict else ""
    which = which or f"{count(len(rows), 'row')} of {len(explanation):,}, evenly spread."
    some = row_by_row(explanation, rows, title="Some rows", before=which, after="", most=SHOWN_FEATURES)
    return [some, *pictures(explanation)]


def _of(card: Card, label: str) -> Estimate | None:
    return next((line.estimate for line in card.lines if line.label == label), None)
