"""The page of an audit: the verdict first, then the evidence."""

from __future__ import annotations

import pandas as pd

from lexplain.evaluation import Card, Line

from .page import Section, page


def card_page(card: Card, *, version: str = "", date: str = "") -> str:
    """A self-contained page of a card: the verdict, why, and every number with its interval and how to read it."""
    table = pd.DataFrame(_row(line) for line in card.lines)
    verdict = pd.DataFrame(
        [{"verdict": card.verdict, "rows judged": card.rows, "margin (nats)": card.margin, "p-value against the margin": card.p_value}]
    )
    sections = [Section("Verdict", f"{card.why[:1].upper()}{card.why[1:]}.", table=verdict), Section("Evidence", EVIDENCE, table=table)]
    title = f"Audit of {card.method}" if card.method else "Audit of an explanation"
    return page(title, f"Verdict: {card.verdict}.", sections, version=version, date=date)


EVIDENCE = (
    "Every number comes from judges that have not seen the rows they judge. Intervals hold the true mean in 95 of 100 cases "
    "(90 for the encoding, which is tested on each side at 5 %)."
)


def _row(line: Line) -> dict[str, str]:
    scale, unit = (100, " %") if line.percent else (1, "")
    digits = 1 if line.percent else 3
    low, mean, high = (f"{scale * value:.{digits}f}" for value in (line.estimate.low, line.estimate.mean, line.estimate.high))
    better = {True: "higher", False: "lower", None: "neither"}[line.higher_is_better]
    return {"metric": line.label, "value": f"{mean}{unit}", "interval": f"{low} to {high}", "better": better, "how to read it": line.reads}
