import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from lexplain.data import load_data
from lexplain.data.cache import File
from lexplain.data.tabular import TABLES, breast_cancer
from lexplain.features import Columns

NAMES = [table.name for table in TABLES]
FROM_FILES = [table.name for table in TABLES if table.files]
CATEGORIES = {"breast_cancer": 0, "adult": 8, "bank": 9, "credit_default": 3, "german": 13, "california_housing": 0, "wine": 1, "heart": 8}
ROWS = {"adult": 48842, "bank": 45211, "credit_default": 30000, "german": 1000, "california_housing": 20640, "wine": 6497, "heart": 303}
REAL = ("california_housing", "wine")
CLASS_1 = {"adult": 11687, "bank": 5289, "credit_default": 6636, "german": 300, "heart": 139}  # as the files' own descriptions count them


def parts_of(data):
    return data.train, data.validation, data.test


@pytest.mark.parametrize("name", NAMES)
def test_table_keeps_its_promises(name, made_tables):
    data = load_data(name, seed=1)
    x = pd.concat([part.x for part in parts_of(data)])
    assert x.shape[1] == len(data.names) == next(table.columns for table in TABLES if table.name == name)
    assert sorted(x.index) == list(range(len(x)))  # every row is in one part
    assert len(x.select_dtypes("category").columns) == CATEGORIES[name]
    assert not x.isna().any().any()
    assert np.allclose([len(part) / len(x) for part in parts_of(data)], [0.6, 0.15, 0.25], atol=0.02)
    if name not in REAL:
        assert data.train.y.dtype == np.int64
        assert np.allclose([part.y.mean() for part in parts_of(data)], data.train.y.mean(), atol=0.06)
    fitted = Columns().fit(data.train.x)
    assert fitted.count == x.shape[1]
    for part in (data.validation, data.test):  # every category of theirs is in the training rows
        pd.testing.assert_frame_equal(fitted.decode(fitted.encode(part.x).x), part.x.reset_index(drop=True), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_the_split_alone(name, made_tables):
    one, same, other = (load_data(name, seed=seed) for seed in (1, 1, 2))
    for a, b, c in zip(parts_of(one), parts_of(same), parts_of(other), strict=True):
        assert a.x.equals(b.x)
        assert np.array_equal(a.y, b.y)
        assert set(a.x.index) != set(c.x.index)
    both = [pd.concat([part.x.assign(target=part.y) for part in parts_of(data)]).sort_index() for data in (one, other)]
    assert both[0].equals(both[1])


def test_a_category_of_one_row_is_learned_from(made_tables):
    for seed in range(5):
        lands = load_data("adult", seed=seed).train.x["native-country"]
        assert {"Only-once", "Only-once."} <= set(lands)


def test_targets_are_those_of_the_files(made_tables):
    told = {
        "adult": sum(
            line.rstrip(".").endswith(">50K") for path in ("data", "test") for line in made_tables[f"tabular/adult.{path}"].split("\n")
        ),
        "bank": made_tables["tabular/bank-full.csv"].count(';"yes"\n'),
        "german": made_tables["tabular/german.data"].count(" 2\n"),
        "credit_default": made_tables["tabular/UCI_Credit_Card.csv"].count(",1\n"),
        "heart": sum(not line.endswith(",0") for line in made_tables["tabular/processed.cleveland.data"].split("\n")[:-1]),
    }
    assert {name: sum(part.y.sum() for part in parts_of(load_data(name))) for name in told} == told
    houses = load_data("california_housing")
    assert houses.train.y.dtype == np.float64
    assert houses.names[-1] == "Longitude"
    wines = load_data("wine")
    both = pd.concat([part.x.assign(quality=part.y) for part in parts_of(wines)]).sort_index()
    assert both["colour"].tolist() == ["red"] * 120 + ["white"] * 120
    lines = [line for colour in ("red", "white") for line in made_tables[f"tabular/winequality-{colour}.csv"].split("\n")[1:-1]]
    assert both["quality"].tolist() == [float(line.split(";")[-1]) for line in lines]
    assert set(load_data("heart").train.x["thal"]) == {"3", "6", "?"}


@pytest.mark.parametrize("name", FROM_FILES)
def test_another_file_is_refused(name, tmp_path, made_tables):
    path = next(table.files[0].path for table in TABLES if table.name == name)
    (tmp_path / "cache" / f"{path}.gz").unlink()
    with pytest.raises(FileNotFoundError, match="LEXPLAIN_DATA"):
        load_data(name)
    (tmp_path / "cache" / path).write_text(made_tables[path] + "\n")
    with pytest.raises(ValueError, match="sha256"):
        load_data(name)


@pytest.mark.parametrize("name", FROM_FILES)
def test_published_files_have_the_published_counts(name, loaded):
    data = loaded(name)
    assert sum(len(part) for part in parts_of(data)) == ROWS[name]
    if name in CLASS_1:
        assert sum(part.y.sum() for part in parts_of(data)) == CLASS_1[name]


def test_files_are_told_by_a_checksum_and_a_place():
    for file in (file for table in TABLES for file in table.files):
        assert isinstance(file, File)
        assert len(file.sha256) == 64
        assert file.origin.startswith("https://")


# ---- breast cancer, which comes with scikit-learn ----


def test_every_tumour_is_in_one_part_with_its_own_label():
    data, table = breast_cancer(seed=1), load_breast_cancer()
    parts = parts_of(data)
    got = sorted((row.tobytes(), int(label)) for part in parts for row, label in zip(part.x.to_numpy(), part.y, strict=True))
    assert got == sorted((row.tobytes(), int(label)) for row, label in zip(table.data.astype(np.float32), table.target, strict=True))
    assert data.names == tuple(table.feature_names)


def test_truth_is_not_known():
    assert all(part.truth is None and part.probabilities is None for part in parts_of(breast_cancer()))
