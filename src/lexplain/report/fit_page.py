"""The page of a fit: how much it keeps, what else it could have kept, and what is wrong with it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexplain.explainers import Explainer

from .figures.path import path
from .formatting import describe_choice, format_nats
from .page import Section, page

EVERY = 8  # rows of a path's table are so far apart; the chosen one is always there
NO_PATH = "This fit has no path of prices: only keep='auto' of the default method computes one."
PATH = (
    "The price is what a feature must be worth, in nats, to be kept: a higher price keeps fewer features. The cost is how far predictions "
    "move when the features that are not kept are drawn anew. The chosen price is the highest one whose cost, or loss of accuracy, is "
    "within the tolerance; if there is none, it is the lowest price."
)
JUDGED = "eACC is the accuracy of a judge (EVAL-X) that sees only the kept features; from all features it is {:.3f}."


def fit_page(explainer: Explainer, *, version: str = "", date: str = "") -> str:
    """A self-contained page of a fitted explainer: its path as a figure and as a table, and its findings."""
    table, findings = explainer.path_, explainer.findings_
    title = f"Fit of {explainer.method_.name}"
    found = Section("Findings", "\n\n".join(f"{finding[:1].upper()}{finding[1:]}." for finding in findings) or "Nothing to report.")
    if table is None:
        return page(title, NO_PATH, [found], version=version, date=date)
    judged = f"\n\n{JUDGED.format(table['eacc_of_all'].iloc[0])}" if "eacc" in table else ""
    sections = [
        Section("How much to keep", PATH + judged, [path(table)]),
        Section("The path in numbers", f"Every {EVERY}th price, and the chosen one.", table=_rows(table)),
        found,
    ]
    said = describe_choice(table)
    return page(title, f"{said[:1].upper()}{said[1:]}.", sections, version=version, date=date)


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a path to print, with words for names."""
    shown = table[(np.arange(len(table)) % EVERY == 0) | table["chosen"]]
    # A cost of nothing is 0, not what rounding left of it.
    columns = {"price (nats)": shown["price"], "features kept": shown["kept"], "cost (nats)": shown["cost"].round(6) + 0.0}
    columns["interval of the cost"] = _intervals(shown, "cost")
    if "eacc" in table:
        columns |= {"eACC": shown["eacc"], "interval of eACC": _intervals(shown, "eacc")}
    chosen = pd.Series(np.where(shown["chosen"], "chosen", ""), shown.index)
    return pd.DataFrame({**columns, "choice": chosen}).reset_index(drop=True)


def _intervals(table: pd.DataFrame, name: str) -> pd.Series[str]:
    ends = zip(table[f"{name}_low"], table[f"{name}_high"], strict=True)
    return pd.Series([f"{format_nats(low)} to {format_nats(high)}" for low, high in ends], table.index)
