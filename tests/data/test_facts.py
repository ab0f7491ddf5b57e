import io

import numpy as np
import pandas as pd
import pytest

from lexplain.data import DATASETS, Synthetic, load_data
from lexplain.data.facts import facts, part_as_bytes
from lexplain.data.files import read_table


@pytest.mark.parametrize("ending", [".csv", ".npz"])
@pytest.mark.parametrize("target", ["labels", "values", "probabilities"])
def test_what_is_written_is_read_back(tmp_path, ending, target):
    data = load_data("s1", rows=30, target=target)
    path = tmp_path / f"part{ending}"
    path.write_bytes(part_as_bytes(data, "validation", ending))
    soft = ending == ".csv" and target == "probabilities"
    rows = read_table(path, outputs=["y0", "y1"] if soft else None)
    assert rows.names == data.names
    assert np.array_equal(rows.x.to_numpy().astype(np.float32), data.validation.x)
    assert np.array_equal(rows.y.astype(data.validation.y.dtype), data.validation.y)
    assert ending == ".csv" or np.array_equal(rows.truth, data.validation.truth)


def test_csv_of_a_data_set_holds_its_columns_and_y_only():
    table = pd.read_csv(io.BytesIO(part_as_bytes(load_data("s1", rows=30), "train", ".csv")))
    assert table.columns.tolist() == [*(f"x{j}" for j in range(1, 12)), "y"]


def test_npz_of_a_data_set_holds_all_that_is_known():
    with np.load(io.BytesIO(part_as_bytes(load_data("s1", rows=30), "test", ".npz")), allow_pickle=False) as stored:
        assert set(stored.files) == {"x", "y", "truth", "probabilities", "names"}
    with np.load(io.BytesIO(part_as_bytes(load_data("breast_cancer"), "test", ".npz")), allow_pickle=False) as stored:
        assert set(stored.files) == {"x", "y", "names"}


def test_only_parts_can_be_written():
    with pytest.raises(ValueError, match="Unknown part 'all'"):
        part_as_bytes(load_data("s1", rows=30), "all", ".csv")


@pytest.mark.parametrize("name", [name for name, source in DATASETS.items() if "pixels" not in str(source.columns)])
def test_facts_of_every_table(name, loaded):
    told = facts(loaded(name))
    assert {"rows", "columns"} <= set(told)
    assert ("classes" in told) == (name not in ("california_housing", "wine")) != ("values" in told)
    assert ("true features" in told) == (DATASETS[name].truth_sizes != ())
    assert ("best accuracy" in told) == isinstance(DATASETS[name], Synthetic)


def test_a_table_with_categories_is_written_and_read_back(tmp_path, made_tables):
    data = load_data("bank")
    assert facts(data)["categories"].startswith("job (")
    path = tmp_path / "part.csv"
    path.write_bytes(part_as_bytes(data, "test", ".csv"))
    rows = read_table(path)
    assert rows.names == data.names
    assert rows.x.astype(data.test.x.dtypes.to_dict()).equals(data.test.x.reset_index(drop=True))
    with pytest.raises(ValueError, match=r"bank has categorical columns"):
        part_as_bytes(data, "test", ".npz")
    with np.load(io.BytesIO(part_as_bytes(load_data("california_housing"), "test", ".npz")), allow_pickle=False) as stored:
        assert stored["x"].shape[1] == 8


def test_facts_are_those_of_the_rows():
    data = load_data("s1", rows=200)
    told = facts(data)
    threes = (data.train.truth.sum(1) == 3).mean()
    assert told["rows"] == "train 200, validation 20, test 200"
    assert told["true features"] == f"3 ({threes:.0%} of the rows), 5 ({1 - threes:.0%} of the rows)"
    assert told["classes"].startswith(f"0 ({(data.train.y == 0).mean():.1%})")
    assert told["best accuracy"].startswith(f"{data.test.probabilities.max(1).mean():.1%}")
    assert "classes" not in facts(load_data("s1", rows=30, target="values"))
