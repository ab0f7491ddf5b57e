import doctest

import numpy as np
import pandas as pd
import pytest

from lexplain.data import DATASETS, Faces, Images, Table, describe, load, load_data


def parts_of(data):
    return data.train, data.validation, data.test


IMAGES = [name for name, source in DATASETS.items() if isinstance(source, (Images, Faces))]  # their promises: test_images.py
COLUMNS = [name for name in DATASETS if name not in IMAGES]
TABLES = [name for name, source in DATASETS.items() if isinstance(source, Table)]
PUBLISHED_TEST = ("decoy_mnist", "newsgroups")  # their test rows are always the same


@pytest.mark.parametrize("name", COLUMNS)
def test_data_set_keeps_its_promises(name, loaded):
    data = loaded(name, seed=3)
    assert data.name == name
    assert len(set(data.names)) == len(data.names)
    for part in parts_of(data):
        assert part.x.shape == (len(part), len(data.names))
        assert isinstance(part.x, pd.DataFrame if name in TABLES else np.ndarray)
        assert not pd.isna(part.x).any(axis=None)
        assert part.y.shape == (len(part),)
        assert part.y.dtype == (np.float64 if name in ("california_housing", "wine") else np.int64)
        assert part.y.dtype == np.float64 or set(part.y.tolist()) == set(range(10 if name.startswith("decoy_") else 2))
        assert part.truth is None or part.truth.shape == part.x.shape
    assert data.frame(data.test).columns.tolist() == list(data.names)


@pytest.mark.parametrize("name", COLUMNS)
def test_no_row_is_in_two_parts(name, loaded):
    parts = parts_of(loaded(name))
    rows = [row for part in parts for row in (part.x.index if name in TABLES else map(bytes, part.x))]
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("name", COLUMNS)
def test_the_seed_decides(name, loaded):
    one, same, other = loaded(name, seed=1), loaded(name, seed=1), loaded(name, seed=2)
    for a, b, c in zip(parts_of(one), parts_of(same), parts_of(other), strict=True):
        assert np.array_equal(a.x, b.x)
        assert np.array_equal(a.y, b.y)
        if a is not one.test or name not in PUBLISHED_TEST:
            assert not np.array_equal(a.x, c.x)
            assert not np.array_equal(a.y, c.y)


@pytest.mark.parametrize("name", COLUMNS)
def test_description_agrees_with_the_data(name, loaded):
    data, told = loaded(name), describe().set_index("name").loc[name]
    sizes = [] if data.train.truth is None else sorted(set(data.train.truth.sum(1).tolist()))
    assert told["description"] == data.description
    assert told["description"].endswith(".")
    assert told["columns"] == data.train.x.shape[1]
    assert told["true features"] == (" or ".join(map(str, sizes)) or "unknown")
    assert told["control flow"] == ("none" if data.control_flow is None else data.names[data.control_flow])


CONFOUNDED = ["colours", "decoy_mnist", "decoy_digits", "iris_cancer", "newsgroups"]


def test_menu():
    made = ["s1", "s2", "s3", "a", "b", "c", "xor", "orange_skin", "nonlinear_additive", "switch"]
    tables = ["breast_cancer", "adult", "bank", "credit_default", "german", "california_housing", "wine", "heart"]
    images = ["mnist", "fashion", "mnist38", "digits", "sp_mnist", "sp_fashion", "sp_digits", "chest_xray", "cats_dogs", "faces"]
    assert list(DATASETS) == [*made, *tables, *images, *CONFOUNDED]
    assert images == IMAGES
    assert describe()["name"].tolist() == list(DATASETS)
    assert {name: source.control_flow for name, source in DATASETS.items() if source.control_flow} == {
        "s1": 10,
        "s2": 10,
        "s3": 10,
        "switch": 9,
    }


def test_published_sizes_are_the_default():
    data = load_data("s2")
    assert [len(part) for part in parts_of(data)] == [10_000, 1_000, 10_000]


def test_options_reach_the_data_set():
    data = load_data("switch", rows=30, seed=7, noise_columns=2, correlation=0.9, target="probabilities")
    plain = DATASETS["switch"](rows=30, seed=7, noise_columns=2, correlation=0.9, target="probabilities")
    assert np.array_equal(data.train.x, plain.train.x)
    assert np.array_equal(data.train.y, plain.train.y)


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("s4", {}, "Unknown data set 's4'. Choose one of: a, adult, b, bank, breast_cancer"),
        ("s1", {"correlation": 1}, "correlation must be .*1"),
        ("s1", {"rows": 0}, "0 is too few"),
        ("breast_cancer", {"rows": 100}, "Unknown option of breast_cancer 'rows'. Choose one of: seed"),
        ("breast_cancer", {"noise_columns": 1}, "Unknown option of breast_cancer 'noise_columns'"),
        ("breast_cancer", {"correlation": 0.5}, "Unknown option of breast_cancer 'correlation'"),
        ("breast_cancer", {"target": "values"}, "Unknown option of breast_cancer 'target'"),
        ("breast_cancer", {"target": "classes"}, "Unknown option of breast_cancer 'target'"),
        ("digits", {"noise_columns": 1}, "Unknown option of digits 'noise_columns'. Choose one of: rows, seed"),
        ("faces", {"target": "values"}, "Unknown option of faces 'target'. Choose one of: box_height, box_width, rows, seed"),
    ],
)
def test_refusals(name, options, told):
    with pytest.raises(ValueError, match=told):
        load_data(name, **options)


def test_example_in_the_docstring_runs():
    assert doctest.testmod(load) == (0, 2)
