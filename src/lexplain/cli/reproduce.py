"""`lexplain reproduce`."""

from __future__ import annotations

from pathlib import Path

import typer

from .options import Again, ResultsFolder, Seeds, TableName, TableQuick, Workers
from .output import show_table


def reproduce(
    name: TableName = None,
    quick: TableQuick = False,
    seeds: Seeds = 3,
    out: ResultsFolder = Path("docs/results"),
    again: Again = False,
    workers: Workers = 1,
) -> None:
    """Compute a table of the papers again, with the published numbers beside ours.

    Try: lexplain reproduce NAME --quick
    """
    from .. import reproduce as tables

    if name is None:
        show_table(["table", "what it is"], [(table.name, table.about) for table in tables.TABLES.values()])
    else:
        typer.echo(f"Written to {tables.reproduce(name, quick=quick, seeds=seeds, out=out, workers=workers, again=again)}")
