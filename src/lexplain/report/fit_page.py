"""The page of a fit: how many features it keeps, the alternatives, and its findings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexplain.explainers import Explainer

from .figures.path import path
from .formatting import describe_choice, format_nats
from .page import Section, page

EVERY = 8  # the table shows every 8th row of the path, and the chosen one
NO_PATH = "This fit has no path of prices: only keep='auto' of the default method computes one."
PATH = (
    "The price is the cost, in nats, of keeping one feature, so a higher price keeps fewer features. (0.01 nats: the predicted class "
    "becomes about 1 % more or less probable.) The cost is the average change of the predictions when hidden features are resampled. By "
    "default, the chosen price is 0.0055 nats if labels are explained. Otherwise it is the highest one whose cost, or loss of accuracy, is "
    "within the tolerance, or the lowest price if there is none."
)
EACC = "eACC is the accuracy of EVAL-X, a network trained on random subsets, from the kept features. From all features it is {:.3f}."


def fit_page(explainer: Explainer, *, version: str = "", date: str = "") -> str:
    """Write a self-contained page of a fitted explainer: its path as a figure and as a table, and its findings."""
    table, findings = explainer.path_, explainer.findings_
    title = f"Fit of {explainer.method_.name}"
    warnings = Section("Findings", "\n\n".join(f"{finding[:1].upper()}{finding[1:]}." for finding in findings) or "Nothing to report.")
    if table is None:
        return page(title, NO_PATH, [warnings], version=version, date=date)
    eacc = f"\n\n{EACC.format(table['eacc_of_all'].iloc[0])}" if "eacc" in table else ""
    sections = [
        Section("How many features to keep", PATH + eacc, [path(table)]),
        Section("The path in numbers", f"Every {EVERY}th price, and the chosen one.", table=_rows(table)),
        warnings,
    ]
    choice = describe_choice(table)
    return page(title, f"{choice[:1].upper()}{choice[1:]}.", sections, version=version, date=date)


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a path to print, with readable column names."""
    shown = table[(np.arange(len(table)) % EVERY == 0) | table["chosen"]]
    # Rounding errors of a cost of 0 are removed.
    columns = {"price (nats)": shown["price"], "features kept": shown["kept"], "cost (nats)": shown["cost"].round(6) + 0.0}
    columns["interval of the cost"] = _intervals(shown, "cost")
    if "eacc" in table:
        columns |= {"eACC": shown["eacc"], "interval of eACC": _intervals(shown, "eacc")}
    chosen = pd.Series(np.where(shown["chosen"], "chosen", ""), shown.index)
    return pd.DataFrame({**columns, "choice": chosen}).reset_index(drop=True)


def _intervals(table: pd.DataFrame, name: str) -> pd.Series[str]:
    ends = zip(table[f"{name}_low"], table[f"{name}_high"], strict=True)
    return pd.Series([f"{format_nats(low)} to {format_nats(high)}" for low, high in ends], table.index)
