"""The tables of "Right for the right reasons", at tiny sizes."""

import pandas as pd

from lexplain.reproduce import TABLES, rrr, rrr_tables
from lexplain.reproduce.cells import Cell, Run


def test_every_table_is_on_the_menu():
    names = {rrr_tables.COLOURS, rrr_tables.DECOY, rrr_tables.IRIS, rrr_tables.NEWS, rrr_tables.SWEEP, rrr_tables.SPEED}
    assert {name for name in TABLES if name.startswith("rrr-")} == names


def test_a_fit_with_annotation_uses_the_confound_less():
    plain, told = (rrr.compute_fit(Cell("decoy_digits", label, "", 0, {}, {"epochs": 60})) for label in ("plain", "annotated"))
    assert told["in confound"] < 0.5 * plain["in confound"]
    assert told["test"] > plain["test"] + 0.05
    assert told["strength"] > 0 == plain["strength"]


def test_a_cell_of_selections():
    told = rrr.compute_selection(Cell("decoy_digits", "l2x", "l2x", 0, {"keep": 3, "price": 3.0}, {"epochs": 1}))
    assert set(told) == {"train", "test", "in confound"}


def test_a_search_tells_of_three_models():
    told = rrr.compute_search(Cell("colours", "search", "", 0, {}, {"epochs": 1, "rows": 60}))
    assert {"test 1", "test 3", "in corners 2", "in top 1", "diversity"} <= set(told)


def test_a_page_is_written(tmp_path, monkeypatch):
    def few(run, cells, compute):
        where = {"machine": "one", "date": "2026-01-01", "code": "a", "fresh": True}
        lines = [{"key": c.key, **c.facts(), **where} for c in cells]
        numbers = {"train": 0.9, "test": 0.8, "in confound": 0.1, "strength": 10.0, "fit_seconds": 1.0, "diversity": 0.2, "held out 1": 0.5}
        return pd.DataFrame([{**line, **numbers} for line in lines])

    from lexplain.report import sweep

    monkeypatch.setattr(Run, "cells", few)
    monkeypatch.setattr(rrr, "search_figure", lambda *_: sweep(few(None, [Cell("a", "b", "", 0)], None), x="train", y="test", by="label"))
    page = rrr_tables.lambda_sweep(Run(rrr_tables.SWEEP, quick=True, seeds=2, out=tmp_path))
    assert "| decoy_digits | auto | 2 | 90.0 (0.0) | 80.0 (0.0) | 10.0 (0.0) | 10.0 (0.0) |" in page.read_text()
    assert (page.parent / "sweep.svg").exists()
    assert "l2x, annotated" in rrr_tables.decoy(Run(rrr_tables.DECOY, quick=True, seeds=1, out=tmp_path)).read_text()
