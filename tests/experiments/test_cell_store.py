"""The store of cells: computed once, marked by their revision, kept whole or not at all."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from lexplain.experiments.store import commit, machine, read_cell, run_cells


@dataclass(frozen=True)
class Cell:
    seed: int

    @property
    def key(self):
        return f"cell-{self.seed}"

    def facts(self):
        return {"seed": self.seed}


def threads(workers, **how):
    return ThreadPoolExecutor(workers)  # processes take seconds to start


def stopped_at_once(train):
    raise KeyboardInterrupt


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
    first = run_cells(CELLS[:2], number, tmp_path, revision=2)
    assert [(record["key"], record["seed"], record["TPR"]) for record in first] == [("cell-0", 0, 0.0), ("cell-1", 1, 0.1)]
    assert {record["machine"] for record in first} == {machine()}
    assert all(record["revision"] == 2 and record["commit"] == commit() and record["fresh"] for record in first)
    assert run_cells(CELLS[:2], broken, tmp_path, revision=2) == first  # nothing is missing, so nothing is computed
    with pytest.raises(RuntimeError, match="cell 2"):
        run_cells(CELLS, broken, tmp_path, revision=2)
    assert len(list(tmp_path.iterdir())) == 2


def test_cells_of_an_earlier_revision_are_marked_and_computed_again_only_when_asked(tmp_path):
    run_cells(CELLS[:1], number, tmp_path, revision=1)
    (tmp_path / "cell-1.json").write_text(json.dumps({"seed": 1, "TPR": 0.5}))  # written before cells knew their revision
    kept = run_cells(CELLS, number, tmp_path, revision=2)
    assert [record["fresh"] for record in kept] == [False, False, True]
    assert [record.get("revision") for record in kept] == [1, None, 2]
    anew = run_cells(CELLS, lambda cell: {"TPR": 7.0}, tmp_path, revision=2, recompute=True)
    assert [record["TPR"] for record in anew] == [7.0, 7.0, 0.2]
    assert all(record["fresh"] for record in anew)


def test_reading_alone_computes_nothing(tmp_path):
    run_cells(CELLS[1:2], number, tmp_path, revision=2)
    assert [record["seed"] for record in run_cells(CELLS, broken, tmp_path, revision=2, render_only=True)] == [1]


def test_an_interruption_leaves_what_is_finished(tmp_path):
    assert [record["seed"] for record in run_cells(CELLS, stopped, tmp_path, revision=2)] == [0]
    assert [record["seed"] for record in run_cells(CELLS, number, tmp_path, revision=2)] == [0, 1, 2]


def test_failures_are_returned_and_tried_again(tmp_path):
    failed = run_cells(CELLS[:1], lambda cell: {"error": "no"}, tmp_path, revision=2)
    assert failed[0]["error"] == "no"
    assert not list(tmp_path.iterdir())


def test_arrays_lie_beside_their_record(tmp_path):
    first = run_cells(CELLS[:1], lambda cell: {"values": np.arange(3), "kept": 2}, tmp_path, revision=2)[0]
    again = run_cells(CELLS[:1], broken, tmp_path, revision=2)[0]
    assert again["values"].tolist() == first["values"].tolist() == [0, 1, 2]
    assert {name: value for name, value in again.items() if name != "values"} == {n: v for n, v in first.items() if n != "values"}
    (tmp_path / "cell-0.npz").unlink()
    assert read_cell(tmp_path, "cell-0", 2) is None


def test_a_half_written_record_is_no_record(tmp_path):
    (tmp_path / "cell-0.json").write_text('{"seed": 0, ')
    assert read_cell(tmp_path, "cell-0", 2) is None


def test_processes_train_what_missing_cells_share_first_and_once(tmp_path, monkeypatch):
    monkeypatch.setattr("lexplain.experiments.store.ProcessPoolExecutor", threads)
    run_cells(CELLS[:1], number, tmp_path, revision=2)
    trained = []

    def shares(cell):
        return [("one", lambda: trained.append("one")), (f"of {cell.seed}", lambda: trained.append(cell.seed) or 1 / 0)]

    assert len(run_cells(CELLS, number, tmp_path, revision=2, workers=2, shares=shares)) == 3, "what failed to train, the cells will say"
    assert sorted(map(str, trained)) == ["1", "2", "one"]
    assert len(run_cells(CELLS, number, tmp_path, revision=3, recompute=True, shares=shares)) == 3
    assert len(trained) == 3, "in one process the first cell trains it"


def test_nothing_is_computed_where_the_training_was_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("lexplain.experiments.store.ProcessPoolExecutor", threads)
    monkeypatch.setattr("lexplain.experiments.store._tried", stopped_at_once)
    assert run_cells(CELLS, number, tmp_path, revision=2, workers=2, shares=lambda cell: [("one", dict)]) == []


def test_cells_of_one_key_are_computed_once(tmp_path):
    computed = []
    assert len(run_cells([*CELLS, *CELLS], lambda cell: computed.append(cell) or {}, tmp_path, revision=2)) == len(computed) == 3


def test_others_compute_too(tmp_path, monkeypatch):
    monkeypatch.setattr("lexplain.experiments.store.ProcessPoolExecutor", threads)
    found = run_cells(CELLS[:2], number, tmp_path, revision=2, workers=2)
    assert [record["TPR"] for record in found] == [0.0, 0.1]
