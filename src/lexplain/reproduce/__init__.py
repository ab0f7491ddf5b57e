"""Tables of the papers, with one file per table: its settings, the published numbers, and ours."""

from __future__ import annotations

from pathlib import Path

from .. import check
from . import (
    audit_order,
    audit_power,
    default_method,
    l2x_mnist38,
    lex_faces,
    lex_figure3,
    lex_panels,
    real_tables,
    realx_image_tables,
    realx_table1,
    rrr_tables,
)
from .page import write_page
from .table import Run, Table

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        audit_order.TABLE,
        audit_power.TABLE,
        default_method.TABLE,
        l2x_mnist38.TABLE,
        lex_faces.TABLE,
        *lex_panels.TABLES,
        *realx_image_tables.TABLES,
        realx_table1.TABLE,
        real_tables.TABLE,
        lex_figure3.TABLE,
        *rrr_tables.TABLES,
    )
}


def reproduce(
    name: str,
    *,
    quick: bool = False,
    seeds: int = 3,
    out: Path = Path("docs/results"),
    workers: int = 1,
    recompute: bool = False,
    render_only: bool = False,
) -> Path:
    """Compute the missing cells of a table, write its page below `out`, and return the path of the page.

    Args:
        name: One of `TABLES`.
        quick: If True, use less data and training, to test that it runs.
        seeds: Number of repetitions.
        out: Folder of the results.
        workers: Number of processes.
        recompute: If True, recompute cells that were computed by earlier code. Otherwise the page marks them.
        render_only: If True, compute nothing: write the page again from the existing cells, and keep its figures.
    """
    check.positive(seeds=seeds, workers=workers)
    table = TABLES[check.one_of(name, list(TABLES), "table")]
    run = Run(name, quick, seeds, Path(out), workers, recompute, render_only)
    return write_page(run, table, table.results(run))


__all__ = ["TABLES", "reproduce"]
