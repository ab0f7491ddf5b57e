"""Kept cells are found by their keys: a key that changes would have days of computing done again."""

from pathlib import Path

import pytest

from lexplain.reproduce import (
    audit_order,
    default_method,
    l2x_mnist38,
    lex_faces,
    lex_panels,
    real_tables,
    realx_image_tables,
    realx_table1,
)

RESULTS = Path(__file__).parents[2] / "docs" / "results"
KEPT = {  # how many of the cells of three seeds are computed: some pages have fewer seeds
    "audit-order": 15,
    "default": 57,
    "l2x-mnist38": 6,
    "lex-faces": 12,
    "real-tables": 30,
    "realx-table1": 18,
    "realx-table2": 12,
    "realx-table3": 12,
    "lex-sp-mnist": 52,
    "lex-sp-fashion": 20,
}
MODULES = {module.NAME: module for module in (audit_order, default_method, l2x_mnist38, lex_faces, real_tables, realx_table1)}


def cells_of(name):
    """All cells of the page that `lexplain reproduce NAME --seeds 3` writes."""
    asked = {"quick": False, "seeds": 3}
    if name in lex_panels.PANELS:
        panels = lex_panels.PANELS[name]
        return lex_panels.cells_over_rates(panels, **asked) + lex_panels.cells_at_one_rate(panels, **asked)
    if name in realx_image_tables.TABLES:
        return realx_image_tables.cells(realx_image_tables.TABLES[name], **asked)
    return MODULES[name].cells(**asked)


@pytest.mark.parametrize(("name", "count"), KEPT.items())
def test_the_cells_of_published_pages_are_found(name, count):
    if not RESULTS.is_dir():
        pytest.skip("the results are not part of this distribution")
    keys = {cell.key for cell in cells_of(name)}
    assert sum((RESULTS / name / "cells" / f"{key}.json").is_file() for key in keys) == count
