"""The papers' tables: one file each, with settings, published numbers, and ours beside them."""

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
    """Compute a table, or what is missing of it, and write it under `out`; return the page.

    Args:
        name: one of `TABLES`.
        quick: smaller sizes, to see that it runs.
        seeds: how many times to repeat it.
        out: folder of the results.
        workers: processes.
        recompute: compute cells anew that earlier code computed; otherwise the page marks them.
        render_only: compute nothing; write the page anew from the cells that are there, and leave its figures as they are.
    """
    check.positive(seeds=seeds, workers=workers)
    table = TABLES[check.one_of(name, list(TABLES), "table")]
    run = Run(name, quick, seeds, Path(out), workers, recompute, render_only)
    return write_page(run, table, table.results(run))


__all__ = ["TABLES", "reproduce"]
