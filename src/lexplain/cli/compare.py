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
    """Fit and evaluate several explainers on the same data.

    EVAL-X, a network trained on random subsets of features, evaluates all of them.
    Try: lexplain compare realx l2x shap --data s3 --data s1 --keep 5 --out table.csv
    """
    from ..experiments import compare as run
    from ..report import Section, page
    from ..report.comparison_page import comparison_page, comparison_tables
    from .rows import writable

    writable(out, (".csv", ".json", ".parquet", ".html", ".md"))
    result = run(explainers, data, measure or None, seeds, keep=keep, rows=rows, store=store, recompute=recompute, workers=workers)
    tables = comparison_tables(result)
    shown = {title: table.map(shown_number) for title, table in tables.items()}
    _show(result, shown)
    lead = f"{len(set(explainers))} explainers, {len(set(data))} data sets, {seeds} seeds, all evaluated in the same way."
    words = [("--data", name) for name in data] + [("--seeds", seeds)] + [("--measure", name) for name in measure or ()]
    words += [(option, number) for option, number in (("--keep", keep), ("--rows", rows)) if number is not None]
    command = shlex.join(["lexplain", "compare", *explainers, *(str(word) for pair in words for word in pair)])
    sections = [Section(title, table=table) for title, table in tables.items()]
    contents: Contents = {
        ".csv": result.to_csv,
        ".json": result.to_json,
        ".parquet": result.to_parquet,
        ".html": lambda: page("Explainers compared", lead, sections, version=__version__),
        ".md": lambda: comparison_page(command, lead, shown),
    }
    write_out(out, contents)


def _show(result: Comparison, tables: dict[str, pd.DataFrame]) -> None:
    """Print the tables, and warn of cells that failed or that were computed by earlier code."""
    for title, table in tables.items():
        typer.secho(title, bold=True)
        show_table([str(name) for name in table.columns], table.itertuples(index=False))
    for line in result.failures():
        warn(line)
    if result.stale_cells():
        warn(f"computed by earlier code (use --recompute to compute them again): {'; '.join(result.stale_cells())}")
