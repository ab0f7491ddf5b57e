import json

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lexplain.features import Columns, Groups

FRAME = pd.DataFrame({"age": [20.0, 40, 60], "income": [1.0, 3, 2], "lat": [50.0, 51, 52], "lon": [8.0, 8, 8]})
PLACE = {"place": ["lat", "lon"]}
FEATURES = {"columns": Columns(), "groups": Groups(groups=PLACE), "no groups": Groups()}


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("rows", [FRAME, FRAME.to_numpy()], ids=["frame", "array"])
def test_features_keep_their_promises(name, rows):
    if name == "groups" and not isinstance(rows, pd.DataFrame):
        features = Groups(groups={"place": [2, 3]}).fit(rows)
    else:
        features = FEATURES[name].fit(rows)
    encoded = features.encode(rows)
    assert encoded.shape == (3, *features.shape)
    assert encoded.dtype == torch.float32
    assert features.count == len(features.names)
    back = features.decode(encoded)
    assert type(back) is type(rows)
    assert np.allclose(np.asarray(back), FRAME.to_numpy(), atol=1e-4)
    assert np.allclose(features.raw(encoded).numpy(), FRAME.to_numpy(), atol=1e-4)
    for lead in ((), (5,), (2, 4)):
        assert features.expand(torch.ones(*lead, features.count).bool()).shape == (*lead, *features.shape)
    assert features.gather(encoded).shape == (3, features.count)
    assert torch.allclose(features.gather(encoded).sum(1), encoded.sum(1), atol=1e-5)


def test_encoding_standardises():
    encoded = Columns().fit(FRAME).encode(FRAME)
    assert encoded.mean(0).abs().max() < 1e-6
    assert encoded.std(0, correction=0).tolist() == pytest.approx([1, 1, 1, 0])  # a column that never changes is left at 0
    assert Columns().fit(FRAME).encode(FRAME.assign(lon=13.0))[0, 3] == 5  # and not divided by 0


def test_names_and_kinds_are_those_of_the_fit():
    assert Columns().fit(FRAME).names == ("age", "income", "lat", "lon")
    assert Columns().fit(FRAME.to_numpy()).names == ("x1", "x2", "x3", "x4")
    numbered = pd.DataFrame(np.ones((2, 2)), columns=[0, 1])
    assert Columns().fit(numbered).names == ("0", "1")
    fitted = Columns().fit(FRAME)
    assert list(fitted.decode(fitted.encode(FRAME)).columns) == list(FRAME.columns)


def test_fit_returns_a_new_object():
    features = Columns()
    fitted = features.fit(FRAME)
    assert features.names == ()
    assert fitted.fit(FRAME[["age"]]).names == ("age",)
    assert fitted.count == 4


numbers = st.floats(-1e6, 1e6, allow_nan=False, width=32)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 5).flatmap(lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=2, max_size=8)))
def test_encode_and_decode_are_inverse(rows):
    X = np.array(rows)
    features = Columns().fit(X)
    spread = np.maximum(np.abs(X - X.mean(0)).max(0), 1)
    assert (np.abs(features.decode(features.encode(X)) - X) <= 1e-5 * spread + 1e-6 * np.abs(X)).all()


def test_large_numbers_close_together_come_back():
    # A time in seconds, an identifier: float32 alone would round them to multiples of 128 before their mean is taken off.
    X = 1.7e9 + np.arange(1000.0)[:, None]
    features = Columns().fit(X)
    assert np.abs(features.decode(features.encode(X)) - X).max() < 0.01


def test_raw_units_carry_gradients():
    features = Columns().fit(FRAME)
    x = features.encode(FRAME).requires_grad_()
    (slope,) = torch.autograd.grad(features.raw(x).sum(), x)
    assert torch.allclose(slope, torch.tensor(features.scale, dtype=torch.float32).expand(3, 4))


@pytest.mark.parametrize("name", FEATURES)
def test_what_was_learned_survives_json(name):
    fitted = FEATURES[name].fit(FRAME)
    restored = FEATURES[name].restore(json.loads(json.dumps(fitted.state())))
    assert torch.equal(restored.encode(FRAME), fitted.encode(FRAME))
    assert restored.names == fitted.names
    assert restored.frame == fitted.frame
    assert isinstance(restored.decode(restored.encode(FRAME)), pd.DataFrame)
    mask = torch.rand(7, fitted.count) < 0.5
    assert torch.equal(restored.expand(mask), fitted.expand(mask))


# ---- groups ----


def test_groups_come_first_then_the_columns_in_no_group():
    groups = Groups(groups=PLACE).fit(FRAME)
    assert groups.names == ("place", "age", "income")
    assert (groups.count, groups.shape) == (3, (4,))
    assert Groups(groups={"b": ["lon"], "a": ["age", "lat"]}).fit(FRAME).names == ("b", "a", "income")


def test_columns_of_a_group_are_on_or_off_together():
    groups = Groups(groups=PLACE).fit(FRAME)
    mask = torch.tensor([[True, False, False], [False, True, False], [False, False, True]])
    assert groups.expand(mask).int().tolist() == [[0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0]]  # in the order of the columns
    soft = torch.tensor([[0.2, 0.4, 0.9]]).requires_grad_()
    assert groups.expand(soft).tolist()[0] == pytest.approx([0.4, 0.9, 0.2, 0.2])
    (slope,) = torch.autograd.grad(groups.expand(soft).sum(), soft)
    assert slope.tolist() == [[2, 1, 1]]


def test_values_are_summed_within_a_group():
    values = torch.tensor([[1.0, 10, 100, 1000]])
    assert Groups(groups=PLACE).fit(FRAME).gather(values).tolist() == [[1100, 1, 10]]
    assert Columns().fit(FRAME).gather(values).tolist() == [[1, 10, 100, 1000]]


def test_groups_by_name_and_by_position_are_the_same():
    mask = torch.rand(9, 3) < 0.5
    by_name, by_position = (Groups(groups=g).fit(FRAME) for g in (PLACE, {"place": [2, 3]}))
    assert torch.equal(by_name.expand(mask), by_position.expand(mask))
    assert by_name.names == by_position.names


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_expand_and_gather_go_by_the_same_groups(owners):
    members = {f"g{g}": [j for j, owner in enumerate(owners) if owner == g] for g in sorted(set(owners)) if g}
    groups = Groups(groups=members).fit(np.eye(len(owners)))
    for feature, name in enumerate(groups.names):
        mask = torch.zeros(1, groups.count).index_fill(1, torch.tensor([feature]), 1.0)
        columns = groups.expand(mask)[0].nonzero()[:, 0].tolist()
        assert columns == members.get(name, [int(name[1:]) - 1])
        assert groups.gather(groups.expand(mask)).tolist()[0] == [len(columns) if j == feature else 0 for j in range(groups.count)]


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"place": ["lat", "nowhere"]}, "names column 'nowhere', which is not there"),
        ({"place": [2, 4]}, "names column 4, which is not there"),
        ({"place": [-1]}, "names column -1, which is not there"),
        ({"place": ["lat", "lon"], "north": ["lat"]}, "column 'lat' is in the groups 'place' and 'north'"),
        ({"place": ["lat", 2]}, "column 'lat' is in the groups 'place' and 'place'"),
    ],
    ids=["unknown name", "unknown position", "negative position", "overlap", "named twice"],
)
def test_refuses_groups_that_do_not_fit(groups, words):
    with pytest.raises(ValueError, match=words):
        Groups(groups=groups).fit(FRAME)


@pytest.mark.parametrize(
    ("groups", "why"),
    [({"age": ["lat", "lon"]}, "two features would be called age"), ({"place": []}, "a feature of no column explains nothing")],
    ids=["the name of another column", "empty"],
)
def test_refuses_groups_that_cannot_be_explained(groups, why):
    with pytest.raises(ValueError, match="group"):
        Groups(groups=groups).fit(FRAME)


# ---- refusals ----


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (FRAME.assign(age=["young", "old", "old"]), r"columns \['age'\] hold text"),
        (FRAME.assign(income=[1.0, np.nan, 2]), "contains NaN .first in row 1, column income."),
        (FRAME.assign(income=[1.0, np.inf, 2]), "contains infinity .first in row 1, column income."),
        (FRAME.assign(income=[1.0, 1e300, 2]), "too large for float32"),
        (FRAME.to_numpy()[0], "Expected 2D array, got 1D array"),
        (FRAME.to_numpy()[:0], "0 sample"),
        (FRAME.to_numpy()[:, :0], "0 feature"),
        (FRAME.to_numpy() * 1j, "Complex data not supported"),
        (np.array([["a", "b"]]), "every column must hold numbers"),
    ],
    ids=["text", "NaN", "infinity", "too large", "one axis", "no rows", "no columns", "complex", "text array"],
)
def test_refuses_rows_that_are_no_table_of_numbers(rows, words):
    with pytest.raises(ValueError, match=words):
        Columns().fit(rows)


def test_refuses_other_columns_than_those_of_the_fit():
    fitted = Columns().fit(FRAME)
    with pytest.raises(ValueError, match="X has 3 features, but Explainer is expecting 4 features"):
        fitted.encode(FRAME[["age", "income", "lat"]])
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.encode(FRAME[["income", "age", "lat", "lon"]])
    with pytest.raises(ValueError, match="NaN"):
        fitted.encode(FRAME.assign(age=np.nan))
    assert fitted.encode(FRAME.to_numpy()).shape == (3, 4)  # an array has no names to differ


def test_whole_numbers_and_booleans_are_numbers():
    mixed = pd.DataFrame({"n": [1, 2, 3], "yes": [True, False, True], "small": np.array([1, 2, 3], dtype=np.int8)})
    fitted = Columns().fit(mixed)
    assert np.allclose(fitted.decode(fitted.encode(mixed)).to_numpy(dtype=float), mixed.to_numpy(dtype=float), atol=1e-5)
