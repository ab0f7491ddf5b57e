"""The papers' tables: one file each, with settings, published numbers, and ours beside them."""

from __future__ import annotations

from collections.abc import Callable
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
from .cells import Run

TABLES = {
    audit_order.NAME: "the audit of REAL-X, L2X, INVASE and BASE-X that explain a network on S1-S3: verdicts, encoding, FS-M and FS-A",
    audit_power.NAME: "the encoding test: how often it flags selectors that plant the answer in the mask, and honest ones",
    default_method.NAME: "the default method on S1-S3, with noise columns, correlation and real values, and on the sets of L2X",
    l2x_mnist38.NAME: "L2X, table 4: the four patches that make a network say 3 or 8",
    lex_faces.NAME: "LEX: does the explanation of a smile lie on the mouth?",
    "lex-sp-mnist": "LEX: a digit beside clothing; how much is kept of the wrong panel, for every imputation",
    "lex-sp-fashion": "LEX: the same panels, of which the clothing decides",
    "realx-table2": "REAL-X, table 2: REAL-X, L2X, INVASE and BASE-X on ten digits, judged by EVAL-X",
    "realx-table3": "REAL-X, table 3: the same on chest X-rays",
    realx_table1.NAME: "REAL-X, table 1: REAL-X, L2X, INVASE and BASE-X on S1-S3, judged by EVAL-X",
    real_tables.NAME: "features needed to stay within five points of a gradient-boosting model, on five real tables and for six methods",
    lex_figure3.NAME: "LEX, figure 3: zero, surrogate zero and Gaussian imputation over selection rates on S1-S3",
    rrr_tables.COLOURS: "RRR: toy colours, either rule forbidden, and both found without annotation",
    rrr_tables.DECOY: "RRR: decoy MNIST with and without annotation, and found without",
    rrr_tables.IRIS: "RRR: irises beside tumours over random splits, with the irises and without",
    rrr_tables.NEWS: "RRR: two newsgroups, models that are right for different words",
    rrr_tables.SWEEP: "RRR: the strength of the penalty over ten decades, and found by the trainer",
    rrr_tables.SPEED: "RRR: milliseconds an explanation, input gradients and LIME",
}
_RUNS: dict[str, Callable[[Run], Path]] = {
    audit_order.NAME: audit_order.reproduce,
    audit_power.NAME: audit_power.reproduce,
    default_method.NAME: default_method.reproduce,
    realx_table1.NAME: realx_table1.reproduce,
    l2x_mnist38.NAME: l2x_mnist38.reproduce,
    lex_faces.NAME: lex_faces.reproduce,
    **dict.fromkeys(lex_panels.NAMES, lex_panels.reproduce),
    **dict.fromkeys(realx_image_tables.TABLES, realx_image_tables.reproduce),
    real_tables.NAME: real_tables.reproduce,
    lex_figure3.NAME: lex_figure3.reproduce,
    rrr_tables.COLOURS: rrr_tables.colours,
    rrr_tables.DECOY: rrr_tables.decoy,
    rrr_tables.IRIS: rrr_tables.iris_cancer,
    rrr_tables.NEWS: rrr_tables.newsgroups,
    rrr_tables.SWEEP: rrr_tables.lambda_sweep,
    rrr_tables.SPEED: rrr_tables.speed,
}


def reproduce(
    name: str,
    *,
    quick: bool = False,
    seeds: int = 3,
    out: Path = Path("docs/results"),
    workers: int = 1,
    again: bool = False,
    only_read: bool = False,
) -> Path:
    """Compute a table, or what is missing of it, and write it under `out`; return the page.

    Args:
        name: one of `TABLES`.
        quick: smaller sizes, to see that it runs.
        seeds: how many times to repeat it.
        out: folder of the results.
        workers: processes.
        again: compute cells anew that earlier code computed; otherwise the page marks them.
        only_read: compute nothing; write the page anew from the cells that are there, and leave its figures as they are.
    """
    check.positive(seeds=seeds, workers=workers)
    table = _RUNS[check.one_of(name, list(TABLES), "table")]
    return table(Run(name, quick, seeds, Path(out), workers, again, only_read))


__all__ = ["TABLES", "reproduce"]
