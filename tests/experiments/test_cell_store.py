"""The store of cells: computed once, marked by their code, kept whole or not at all."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from lexplain.experiments.store import machine, read_cell, run_cells


@dataclass(frozen=True)
class Cell:
    seed: int

    @property
    def key(self):
        return f"cell-{self.seed}"

    def facts(self):
        return {"seed": self.seed}


CELLS = [Cell(seed) for seed in range(3)]


def number(cell):
    return {"TPR": cell.seed / 10}


def broken(cell):
    raise RuntimeError(f"cell {cell.seed}")


def stopped(cell):
    if cell.seed == 1:
        raise KeyboardInterrupt
    return number(cell)


def test_a_cell_is_computed_once_and_says_where_it_comes_from(tmp_path):
    first = run_cells(CELLS[:2], number, tmp_path, code="now")
    assert [(record["key"], record["seed"], record["TPR"]) for record in first] == [("cell-0", 0, 0.0), ("cell-1", 1, 0.1)]
    assert {record["machine"] for record in first} == {machine()}
    assert all(record["code"] == "now" and record["fresh"] for record in first)
    assert run_cells(CELLS[:2], broken, tmp_path, code="now") == first  # nothing is missing, so nothing is computed
    with pytest.raises(RuntimeError, match="cell 2"):
        run_cells(CELLS, broken, tmp_path, code="now")
    assert len(list(tmp_path.iterdir())) == 2


def test_cells_of_older_code_are_marked_and_computed_again_only_when_asked(tmp_path):
    run_cells(CELLS[:1], number, tmp_path, code="then")
    (tmp_path / "cell-1.json").write_text(json.dumps({"seed": 1, "TPR": 0.5}))  # written before cells knew their code
    kept = run_cells(CELLS, number, tmp_path, code="now")
    assert [record["fresh"] for record in kept] == [False, False, True]
    assert [record["code"] for record in kept] == ["then", None, "now"]
    anew = run_cells(CELLS, lambda cell: {"TPR": 7.0}, tmp_path, code="now", again=True)
    assert [record["TPR"] for record in anew] == [7.0, 7.0, 0.2]
    assert all(record["fresh"] for record in anew)


def test_reading_alone_computes_nothing(tmp_path):
    run_cells(CELLS[1:2], number, tmp_path, code="now")
    assert [record["seed"] for record in run_cells(CELLS, broken, tmp_path, code="now", only_read=True)] == [1]


def test_an_interruption_leaves_what_is_finished(tmp_path):
    assert [record["seed"] for record in run_cells(CELLS, stopped, tmp_path, code="now")] == [0]
    assert [record["seed"] for record in run_cells(CELLS, number, tmp_path, code="now")] == [0, 1, 2]


def test_failures_are_returned_and_tried_again(tmp_path):
    failed = run_cells(CELLS[:1], lambda cell: {"error": "no"}, tmp_path, code="now")
    assert failed[0]["error"] == "no"
    assert not list(tmp_path.iterdir())


def test_arrays_lie_beside_their_record(tmp_path):
    first = run_cells(CELLS[:1], lambda cell: {"values": np.arange(3), "kept": 2}, tmp_path, code="now")[0]
    again = run_cells(CELLS[:1], broken, tmp_path, code="now")[0]
    assert again["values"].tolist() == first["values"].tolist() == [0, 1, 2]
    assert {name: value for name, value in again.items() if name != "values"} == {n: v for n, v in first.items() if n != "values"}
    (tmp_path / "cell-0.npz").unlink()
    assert read_cell(tmp_path, "cell-0", "now") is None


def test_a_half_written_record_is_no_record(tmp_path):
    (tmp_path / "cell-0.json").write_text('{"seed": 0, ')
    assert read_cell(tmp_path, "cell-0", "now") is None


def test_what_cells_share_is_prepared_for_those_that_are_missing(tmp_path):
    run_cells(CELLS[:1], number, tmp_path, code="now")
    asked = []

    def prepare(missing, pool):
        asked.append((list(missing), pool))
        return len(asked) > 1

    assert len(run_cells(CELLS, number, tmp_path, code="now", prepare=prepare)) == 1, "somebody stopped it"
    assert len(run_cells(CELLS, number, tmp_path, code="now", prepare=prepare)) == 3
    assert asked == [(CELLS[1:], None)] * 2


def test_others_compute_too(tmp_path, monkeypatch):
    monkeypatch.setattr("lexplain.experiments.store.processes", ThreadPoolExecutor)  # processes take seconds to start
    found = run_cells(CELLS[:2], number, tmp_path, code="now", workers=2)
    assert [record["TPR"] for record in found] == [0.0, 0.1]
