"""Pages of results that nobody had to compute."""

import pytest

from lexplain.reproduce.page import write_page
from lexplain.reproduce.table import Results

WHERE = {"machine": "one", "date": "2026-01-01", "revision": 1, "commit": "a", "fresh": True}


@pytest.fixture
def results():
    """Results of a run whose cells all came out with the same numbers: those of a table, or those given."""

    def results_of(run, cells, *, numbers=lambda cell: {}, finished=None):
        done = cells if finished is None else finished
        return Results(run, cells, {cell.key: {"key": cell.key, **cell.facts(), **WHERE, **numbers(cell)} for cell in done})

    return results_of


@pytest.fixture
def written(results):
    """The page of a table whose cells all came out with the same numbers."""

    def page_of(table, run, numbers, *, only=lambda cell: True):
        cells = table.cells(run.quick, run.seeds)
        finished = [cell for cell in cells if only(cell)]
        return write_page(
            run, table, results(run, cells, numbers=numbers if callable(numbers) else lambda cell: numbers, finished=finished)
        )

    return page_of
