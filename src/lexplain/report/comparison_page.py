"""The tables of a comparison, and its page in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pandas as pd

from .. import __version__
from ..experiments import Comparison
from ..experiments.store import machine


def comparison_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """The tables of a comparison, by title."""
    first, tests = comparison.main_tests()
    return {
        "Means over seeds": comparison.summary().reset_index(),
        f"Paired tests of {first}": tests,
        "Cost": comparison.costs().reset_index(),
    }


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown."""
    lines = [table.columns.tolist(), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def comparison_page(command: str, lead: str, tables: Mapping[str, pd.DataFrame]) -> str:
    """Write the tables of a comparison as a Markdown page, with the command, the machine and the date."""
    head = [
        "# Explainers compared",
        f"Written by `{command}` (lexplain {__version__}).",
        f"Machine: {machine()}. Date: {date.today().isoformat()}.",
        lead,
    ]
    return "\n\n".join([*head, *(f"## {title}\n\n{markdown(table)}" for title, table in tables.items())]) + "\n"
