"""The table of the encoding test's power: which draws it has, and how it counts verdicts."""

import json

import pandas as pd
import pytest

from lexplain.experiments.cell import Cell
from lexplain.reproduce import audit_power
from lexplain.reproduce.table import Run


def test_every_kind_has_its_draws():
    made = audit_power.cells(False, 100)
    drawn = pd.Series([cell.label for cell in made]).value_counts()
    assert len(made) == len({cell.key for cell in made}) == 600
    assert all(drawn[kind] == 100 for kind in audit_power.PLANTED)
    assert drawn[list(audit_power.SAFE)].sum() == 200
    omitted = [cell.data for cell in made if cell.label == "omission"]
    assert {data: omitted.count(data) for data in set(omitted)} == {"s1": 34, "s2": 33, "s3": 33}


def test_a_share_comes_with_its_exact_interval():
    # Clopper and Pearson: none of 100 has the upper end 1 - 0.025 ** (1 / 100) = 3.6 %.
    assert audit_power._share(0, 100) == "0 [0, 4]"
    assert audit_power._share(95, 100) == "95 [89, 98]"


def test_verdicts_are_counted_by_kind():
    frame = pd.DataFrame({"verdict": ["encodes", "encodes", "honest", "cannot tell"], "encoding": [0.1, 0.3, 0.0, 0.02]})
    table = audit_power._shares([("all", frame), ("none", frame[:0])])
    assert table["draws"].tolist() == [4]
    assert table.loc[0, "flagged %"].startswith("50 [")
    assert table.loc[0, "honest %"].startswith("25 [")
    assert table.loc[0, "mean encoding"].startswith("0.1050 (")


@pytest.mark.parametrize("label", ["position", audit_power.L2X, audit_power.REALX])
def test_a_draw_of_each_sort_is_computed(label, short_judges, tmp_path):
    short_judges(reader=30)
    cell = next(cell for cell in audit_power.cells(True, 1) if cell.label == label)
    less = {"rows": 100, "judge_steps": 20, **({"epochs": 1} if "epochs" in cell.training else {})}
    numbers = audit_power.compute(Cell(cell.data, label, cell.method, 0, cell.options, {**cell.training, **less}), tmp_path)
    assert numbers["low"] <= numbers["encoding"] <= numbers["high"]
    assert numbers["verdict"] in ("encodes", "honest", "cannot tell")
    assert json.dumps(numbers)


def test_the_page_counts_and_draws(tmp_path, written):
    numbers = {
        "position": {"verdict": "encodes", "encoding": 0.6},
        "oracle": {"verdict": "honest", "encoding": 0.001, "fresh": False},
    }
    run = Run("audit-power", quick=True, seeds=1, out=tmp_path)
    page = written(audit_power.TABLE, run, lambda cell: numbers[cell.label], only=lambda cell: cell.label in numbers)
    assert "| position | 1 | 100 [3, 100] | 0 [0, 98] |" in page.read_text()
    assert "| oracle † | 1 |" in page.read_text()
    assert "| all honest selectors † | 1 |" in page.read_text()
    assert "2 of 8 cells are computed." in page.read_text()
    assert (page.parent / "estimates.svg").read_text().startswith("<svg")
