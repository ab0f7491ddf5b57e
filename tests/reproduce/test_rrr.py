"""The tables of "Right for the right reasons", at tiny sizes."""

from lexplain.experiments.cell import Cell
from lexplain.reproduce import TABLES, rrr
from lexplain.reproduce.table import Run


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


def test_a_cell_is_computed_by_what_it_is_about(monkeypatch, tmp_path):
    kinds = ("compute_fit", "compute_iris", "compute_search", "compute_words", "compute_selection", "compute_speed")
    for kind in kinds:
        monkeypatch.setattr(rrr, kind, lambda cell, kind=kind: kind)
    found = {name: {rrr.compute(cell, tmp_path) for cell in TABLES[name].cells(False, 2)} for name in TABLES if name.startswith("rrr-")}
    assert found == {
        "rrr-colours": {"compute_fit", "compute_search"},
        "rrr-decoy": {"compute_fit", "compute_search", "compute_selection"},
        "rrr-iris-cancer": {"compute_iris", "compute_search"},
        "rrr-newsgroups": {"compute_search", "compute_words"},
        "rrr-lambda-sweep": {"compute_fit"},
        "rrr-speed": {"compute_speed"},
    }


def test_a_page_is_written(tmp_path, monkeypatch, written, results):
    from lexplain.report import sweep

    numbers = {"train": 0.9, "test": 0.8, "in confound": 0.1, "strength": 10.0, "fit_seconds": 1.0, "diversity": 0.2, "held out 1": 0.5}
    drawn = results(Run("any"), [Cell("a", "b", "", 0)], numbers=lambda cell: numbers).frame()
    monkeypatch.setattr(rrr, "search_figure", lambda *_: sweep(drawn, x="train", y="test", by="label"))
    page = written(TABLES["rrr-lambda-sweep"], Run("rrr-lambda-sweep", quick=True, seeds=2, out=tmp_path), numbers)
    assert "| decoy_digits | auto | 2 | 90.0 (0.0) | 80.0 (0.0) | 10.0 (0.0) | 10.0 (0.0) |" in page.read_text()
    assert (page.parent / "sweep.svg").exists()
    assert "l2x, annotated" in written(TABLES["rrr-decoy"], Run("rrr-decoy", quick=True, seeds=1, out=tmp_path), numbers).read_text()
