"""Kept cells are found by their keys: a key that changes would have days of computing done again."""

from pathlib import Path

import pytest

from lexplain.reproduce import TABLES

RESULTS = Path(__file__).parents[2] / "docs" / "results"
KEPT = {  # how many of the cells of three seeds are computed: some pages have fewer seeds
    "audit-order": 15,
    "default": 57,
    "l2x-mnist38": 6,
    "lex-faces": 12,
    "real-tables": 128,
    "realx-table1": 18,
    "realx-table2": 12,
    "realx-table3": 12,
    "lex-sp-mnist": 52,
    "lex-sp-fashion": 20,
}


@pytest.mark.parametrize(("name", "count"), KEPT.items())
def test_the_cells_of_published_pages_are_found(name, count):
    if not RESULTS.is_dir():
        pytest.skip("the results are not part of this distribution")
    keys = {cell.key for cell in TABLES[name].cells(False, 3)}
    assert sum((RESULTS / name / "cells" / f"{key}.json").is_file() for key in keys) == count
