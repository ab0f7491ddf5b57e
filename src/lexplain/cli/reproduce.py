"""`lexplain reproduce`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options
from .output import show_table


def reproduce(
    name: options.TableName = None,
    quick: options.TableQuick = False,
    seeds: options.Seeds = 3,
    out: options.ResultsFolder = Path("docs/results"),
    recompute: options.Recompute = False,
    workers: options.Workers = 1,
) -> None:
    """Compute a table of a paper again, and write it next to the published numbers.

    Try: lexplain reproduce NAME --quick
    """
    from .. import reproduce as tables

    if name is None:
        show_table(["table", "content"], [(table.name, table.about) for table in tables.TABLES.values()])
    else:
        typer.echo(f"Written to {tables.reproduce(name, quick=quick, seeds=seeds, out=out, workers=workers, recompute=recompute)}")
