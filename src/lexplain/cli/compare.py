"""`lexplain compare`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from .. import __version__
from . import options
from .output import Contents, show_table, shown_number, warn, write_out

if TYPE_CHECKING:
    import pandas as pd

    from ..experiments import Comparison


def compare(
    explainers: options.Explainers,
    data: options.Datasets,
    seeds: options.Seeds = 3,
    keep: options.KeepForAll = None,
    measure: options.ComparedMeasures = None,
    rows: options.TestRows = None,
    out: options.TableFile = None,
    store: options.Store = None,
    recompute: options.Recompute = False,
    workers: options.Workers = 1,
) -> None:
    """Compare explainers on data sets, judged alike: by EVAL-X, by encoding, and by the truth where it is known.

    Try: lexplain compare realx l2x shap --data s3 --data s1 --keep 5 --out table.csv
    """
    from ..experiments import compare as run
    from ..report import Section, page
    from ..report.comparison_page import comparison_page, comparison_tables
    from .rows import writable

    writable(out, (".csv", ".json", ".parquet", ".html", ".md"))
    found = run(explainers, data, measure or None, seeds, keep=keep, rows=rows, store=store, recompute=recompute, workers=workers)
    tables = comparison_tables(found)
    shown = {title: table.map(shown_number) for title, table in tables.items()}
    _show(found, shown)
    lead = f"{len(set(explainers))} explainers, {len(set(data))} data sets, {seeds} seeds, judged alike."
    given = [("--data", name) for name in data] + [("--seeds", seeds)] + [("--measure", name) for name in measure or ()]
    given += [(option, number) for option, number in (("--keep", keep), ("--rows", rows)) if number is not None]
    command = shlex.join(["lexplain", "compare", *explainers, *(str(word) for pair in given for word in pair)])
    sections = [Section(title, table=table) for title, table in tables.items()]
    contents: Contents = {
        ".csv": found.to_csv,
        ".json": found.to_json,
        ".parquet": found.to_parquet,
        ".html": lambda: page("Explainers compared", lead, sections, version=__version__),
        ".md": lambda: comparison_page(command, lead, shown),
    }
    write_out(out, contents)


def _show(found: Comparison, tables: dict[str, pd.DataFrame]) -> None:
    """Print the tables, and warn of cells that failed or that earlier code computed."""
    for title, table in tables.items():
        typer.secho(title, bold=True)
        show_table([str(name) for name in table.columns], table.itertuples(index=False))
    for line in found.failures():
        warn(line)
    if found.stale_cells():
        warn(f"computed by earlier code, --recompute computes them anew: {'; '.join(found.stale_cells())}")
