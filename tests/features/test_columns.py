import json

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings, strategies as st

from lexplain.core.kinds import kind_of
from lexplain.features import Columns, Groups

FRAME = pd.DataFrame({"age": [20.0, 40, 60], "income": [1.0, 3, 2], "lat": [50.0, 51, 52], "lon": [8.0, 8, 8]})
PLACE = {"place": ["lat", "lon"]}
MIXED = pd.DataFrame(
    {
        "age": [20, 40, 60],
        "job": pd.Series(["cook", "vet", "cook"], dtype=object),
        "income": [1.5, 3.0, 2.0],
        "land": pd.Categorical(["fr", "de", "fr"], categories=["fr", "it", "de"]),
        "owns": [True, False, True],
        "size": pd.Categorical([2, 1, 2], categories=[1, 2], ordered=True),
        "word": pd.Series(["a", "b", "c"], dtype="string"),
        "rank": pd.Series([1, 2, 3], dtype="Int8"),
        "small": np.array([1, 2, 3], dtype=np.float32),
    }
)
FEATURES = {"columns": Columns(), "groups": Groups(groups=PLACE), "no groups": Groups()}


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("rows", [FRAME, FRAME.to_numpy()], ids=["frame", "array"])
def test_features_keep_their_promises(name, rows):
    if name == "groups" and not isinstance(rows, pd.DataFrame):
        features = Groups(groups={"place": [2, 3]}).fit(rows)
    else:
        features = FEATURES[name].fit(rows)
    encoded = features.encode(rows).x
    assert encoded.shape == (3, *features.shape)
    assert encoded.dtype == torch.float32
    assert features.count == len(features.names)
    back = features.decode(encoded)
    assert type(back) is type(rows)
    assert np.allclose(np.asarray(back), FRAME.to_numpy(), atol=1e-4)
    assert np.allclose(features.as_network_input(encoded).numpy(), FRAME.to_numpy(), atol=1e-4)
    for lead in ((), (5,), (2, 4)):
        assert features.expand(torch.ones(*lead, features.count).bool()).shape == (*lead, *features.shape)
    assert features.gather(encoded).shape == (3, features.count)
    assert torch.allclose(features.gather(encoded).sum(1), encoded.sum(1), atol=1e-5)


def test_encoding_standardises():
    encoded = Columns().fit(FRAME).encode(FRAME).x
    assert encoded.mean(0).abs().max() < 1e-6
    assert encoded.std(0, correction=0).tolist() == pytest.approx([1, 1, 1, 0])  # a column that never changes is left at 0
    assert Columns().fit(FRAME).encode(FRAME.assign(lon=13.0)).x[0, 3] == 5  # and not divided by 0


def test_names_and_kinds_are_those_of_the_fit():
    assert Columns().fit(FRAME).names == ("age", "income", "lat", "lon")
    assert Columns().fit(FRAME.to_numpy()).names == ("x1", "x2", "x3", "x4")
    numbered = pd.DataFrame(np.ones((2, 2)), columns=[0, 1])
    assert Columns().fit(numbered).names == ("0", "1")
    fitted = Columns().fit(FRAME)
    assert list(fitted.decode(fitted.encode(FRAME).x).columns) == list(FRAME.columns)


def test_fit_returns_a_new_object():
    features = Columns()
    fitted = features.fit(FRAME)
    assert features.names == ()
    assert fitted.fit(FRAME[["age"]]).names == ("age",)
    assert fitted.count == 4


# ---- mixed types ----


def test_a_column_of_categories_is_one_feature():
    fitted = Columns().fit(MIXED)
    assert fitted.names == tuple(MIXED.columns)
    assert (fitted.count, fitted.shape) == (9, (5 + 2 + 2 + 2 + 3,))
    assert fitted.categorical == ("job", "land", "size", "word")
    job, land = torch.eye(9)[1], torch.eye(9)[3]
    assert fitted.expand(job + 0.5 * land).tolist() == [0, 1, 1, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0]
    assert fitted.gather(torch.ones(1, 14)).tolist() == [[1, 2, 1, 2, 1, 2, 3, 1, 1]]


def test_zero_is_the_mean_row_and_a_feature_of_categories_varies_as_one_of_numbers_does():
    fitted = Columns().fit(MIXED)
    encoded = fitted.encode(MIXED).x
    assert encoded.mean(0).abs().max() < 1e-6
    assert fitted.gather(encoded.var(0, correction=0)[None])[0].tolist() == pytest.approx([1] * 9)
    mean = fitted.decode(torch.zeros(1, 14)).iloc[0]
    assert mean[["age", "job", "land", "size", "rank"]].tolist() == [40, "cook", "fr", 2, 2]  # the most common category
    assert mean["income"] == pytest.approx(6.5 / 3)
    assert bool(mean["owns"])


def test_what_a_model_eats_has_the_types_it_was_given():
    fitted = Columns().fit(MIXED)
    restored = Columns.restore(json.loads(json.dumps(fitted.state())))
    for features in (fitted, restored):
        pd.testing.assert_frame_equal(features.decode(features.encode(MIXED).x), MIXED, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int32, bool, np.float32, np.float64])
def test_arrays_come_back_in_their_type(dtype):
    X = np.array([[0, 1, 0], [1, 0, 1], [1, 1, 0]], dtype=dtype)
    for rows in (X, pd.DataFrame(X)):
        fitted = Columns().fit(rows)
        back = fitted.decode(fitted.encode(rows).x)
        assert set(np.atleast_1d(back.dtypes if isinstance(back, pd.DataFrame) else back.dtype)) == {np.dtype(dtype)}
        assert np.allclose(np.asarray(back), X, atol=1e-6)
    far = fitted.decode(torch.tensor([[1e30, -1e30, 0.0]]))  # what an imputer draws may lie beyond the type
    if np.dtype(dtype).kind in "iu":
        assert far.iloc[0, 0] > np.iinfo(dtype).max * 0.99
        assert far.iloc[0, 1] == np.iinfo(dtype).min


def test_labels_of_columns_are_kept():
    numbered = pd.DataFrame({0: [1.0, 2], 7: ["a", "b"], "x": [3, 4]})
    fitted = Columns.restore(json.loads(json.dumps(Columns().fit(numbered).state())))
    assert fitted.names == ("0", "7", "x")
    assert fitted.decode(fitted.encode(numbered).x).columns.tolist() == [0, 7, "x"]
    assert Columns().fit(numbered[[0]]).decode(torch.zeros(1, 1)).columns.tolist() == [0]


def test_categories_are_known_by_their_value():
    fitted = Columns().fit(MIXED)
    other = MIXED.astype({"job": "category", "land": object, "size": int, "word": object, "age": float, "owns": int})
    assert torch.equal(fitted.encode(other).x, fitted.encode(MIXED).x)


def test_no_category_is_made_up():
    fitted = Columns().fit(MIXED)
    drawn = fitted.decode(10 * torch.randn(200, *fitted.shape))  # as an imputer may draw it
    assert set(drawn["land"]) == {"fr", "de"}  # "it" is declared by the type, but a model need not know it
    assert drawn["land"].dtype == MIXED["land"].dtype
    assert set(drawn["job"]) == {"cook", "vet"}


def test_plain_tables_cost_nothing_to_expand():
    mask = torch.rand(2, 4)
    for features in (Columns().fit(FRAME), Groups().fit(FRAME)):
        assert features.expand(mask) is mask
        assert features.gather(mask) is mask


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
cells = {
    "float": st.floats(-1e3, 1e3, width=32),
    "int": st.integers(-1000, 1000),
    "bool": st.booleans(),
    "object": words,
    "category": st.sampled_from(["low", "mid", "high"]),
    "numbered": st.integers(0, 3),
}
as_dtype = {"float": "float64", "int": "int16", "bool": "bool", "object": "object", "category": "category", "numbered": "category"}


@st.composite
def mixed_frames(draw):
    kinds, rows = draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=5)), draw(st.integers(1, 6))
    columns = {j: draw(st.lists(cells[kind], min_size=rows, max_size=rows)) for j, kind in enumerate(kinds)}
    return pd.DataFrame({j: pd.Series(columns[j], dtype=as_dtype[kind]) for j, kind in enumerate(kinds)})


@settings(deadline=None, max_examples=100)
@given(mixed_frames())
def test_mixed_frames_come_back(X):
    features = Columns.restore(json.loads(json.dumps(Columns().fit(X).state())))
    encoded = features.encode(X).x
    assert encoded.shape == (len(X), *features.shape)
    pd.testing.assert_frame_equal(features.decode(encoded), X, check_exact=False, rtol=1e-4, atol=1e-3, check_column_type=False)
    mask = torch.rand(3, features.count)
    widths = features.gather(torch.ones(1, *features.shape))
    assert torch.allclose(features.gather(features.expand(mask)), mask * widths)


numbers = st.floats(-1e6, 1e6, allow_nan=False, width=32)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 5).flatmap(lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=2, max_size=8)))
def test_encode_and_decode_are_inverse(rows):
    X = np.array(rows)
    features = Columns().fit(X)
    spread = np.maximum(np.abs(X - X.mean(0)).max(0), 1)
    assert (np.abs(features.decode(features.encode(X).x) - X) <= 1e-5 * spread + 1e-6 * np.abs(X)).all()


def test_large_numbers_close_together_come_back():
    # A time in seconds, an identifier: float32 alone would round them to multiples of 128 before their mean is taken off.
    X = 1.7e9 + np.arange(1000.0)[:, None]
    features = Columns().fit(X)
    assert np.abs(features.decode(features.encode(X).x) - X).max() < 0.01


def test_raw_units_carry_gradients():
    features = Columns().fit(FRAME)
    x = features.encode(FRAME).x.requires_grad_()
    (slope,) = torch.autograd.grad(features.as_network_input(x).sum(), x)
    assert torch.allclose(slope, torch.tensor(features.scale, dtype=torch.float32).expand(3, 4))


@pytest.mark.parametrize("name", FEATURES)
def test_what_was_learned_survives_json(name):
    fitted = FEATURES[name].fit(FRAME)
    restored = kind_of(fitted.kind).restore(json.loads(json.dumps(fitted.state())))
    assert torch.equal(restored.encode(FRAME).x, fitted.encode(FRAME).x)
    assert restored.names == fitted.names
    assert restored.frame == fitted.frame
    assert isinstance(restored.decode(restored.encode(FRAME).x), pd.DataFrame)
    mask = torch.rand(7, fitted.count) < 0.5
    assert torch.equal(restored.expand(mask), fitted.expand(mask))


# ---- refusals ----


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (FRAME.assign(age=[1, "old", 2]), r"'age' of type object contains text .'old' in row 1."),
        (FRAME.assign(age=pd.Series([1, 2, 3], dtype=object)), r"integer values.* X.infer_objects"),
        (FRAME.assign(age=pd.Series([[], [], []])), "mixed values"),
        (FRAME.assign(age=pd.cut(FRAME["age"], 2)), "interval values"),
        (FRAME.assign(age=pd.to_datetime(["2020", "2021", "2022"])), r"\['age'\] contain datetime64 values"),
        (FRAME.assign(age=["young", None, "old"]), "contains NaN .first in row 1, column age.* fillna"),
        (FRAME.assign(age=pd.Categorical(["young", None, "old"])), "contains NaN .first in row 1, column age."),
        (FRAME.assign(age=pd.Series([1, None, 2], dtype="Int64")), "contains NaN .first in row 1, column age."),
        (FRAME.assign(age=["a", "b", "c"], income=np.nan), "contains NaN .first in row 0, column income."),
        (FRAME.assign(age="a")[:0], "0 sample"),
        (FRAME.set_axis(["a", "a", "b", "c"], axis=1), r"more than one column named \['a'\]"),
        (FRAME.set_axis([1, "1", "b", "c"], axis=1), r"more than one column named \['1'\]"),
        (FRAME.set_axis([("a", 1), "b", "c", "d"], axis=1), r"label \('a', 1\) is neither text nor a number"),
        (pd.DataFrame({"id": [f"u{j}" for j in range(1001)]}), "1,001 categories; at most 1,000"),
        (FRAME.assign(income=[1.0, np.nan, 2]), "contains NaN .first in row 1, column income."),
        (FRAME.assign(income=[1.0, np.inf, 2]), "contains infinity .first in row 1, column income."),
        (FRAME.assign(income=[1.0, 1e300, 2]), "too large for float32"),
        (FRAME.to_numpy()[0], "Expected 2D array, got 1D array"),
        (FRAME.to_numpy()[:0], "0 sample"),
        (FRAME.to_numpy()[:, :0], "0 feature"),
        (FRAME.to_numpy() * 1j, "Complex data not supported"),
        (np.array([["a", "b"]]), "numeric"),
    ],
)
def test_refuses_rows_that_are_no_table_of_numbers_and_categories(rows, words):
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
    assert fitted.encode(FRAME.to_numpy()).x.shape == (3, 4)  # an array has no names to differ


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"job": ["cook", "pilot", "vet"]}, "'job' contains 'pilot' in row 1, .* 'cook', 'vet'"),
        ({"land": pd.Categorical(["fr", "fr", "us"])}, "'land' contains 'us' in row 2"),
        ({"land": pd.Categorical(["fr", "it", "de"])}, "'land' contains 'it' in row 1, .* 'fr', 'de'"),
        ({"size": [1, 2, 3]}, "'size' contains 3 in row 2"),
        ({"job": [1, 2, 3]}, "'job' contains 1 in row 0"),
        ({"job": ["cook", None, "vet"]}, "contains NaN .first in row 1, column job."),
        ({"land": pd.Categorical(["fr", None, "de"])}, "contains NaN .first in row 1, column land."),
        ({"age": [1, "old", 2]}, r"columns \['age'\] contain text .'old' in row 1."),
        ({"income": [1, np.nan, 2]}, "contains NaN .first in row 1, column income."),
    ],
)
def test_refuses_cells_that_are_not_of_the_fit(changed, words):
    fitted = Columns().fit(MIXED)
    with pytest.raises(ValueError, match=words):
        fitted.encode(MIXED.assign(**changed))


def test_refuses_arrays_no_rows_and_networks_where_there_are_categories():
    fitted = Columns().fit(MIXED)
    with pytest.raises(ValueError, match=r"X is a ndarray, but columns \['job', .*DataFrame"):
        fitted.encode(MIXED.to_numpy())
    with pytest.raises(ValueError, match="0 sample"):
        fitted.encode(MIXED[:0])
    with pytest.raises(ValueError, match=r"\['job', .* torch network"):
        fitted.as_network_input(fitted.encode(MIXED).x)


def test_bins_lie_between_quantiles_of_numbers():
    numbers = np.random.default_rng(0).normal(size=(1000, 2)) * [1, 100]
    rows = pd.DataFrame({"a": numbers[:, 0], "same": 1.0, "b": numbers[:, 1], "job": np.where(numbers[:, 0] > 0, "cook", "vet")})
    features = Columns().fit(rows)
    assert np.unique(features.bins[:, 0]).tolist() == [0, 2], "no constant column, and none of categories"
    for column, name in ((0, "a"), (2, "b")):
        _, low, width = features.bins[features.bins[:, 0] == column].T
        assert len(low) == 16
        assert np.allclose(low[1:], (low + width)[:-1])
        values = (rows[name].to_numpy() - features.mean[column]) / features.scale[column]
        assert np.allclose([*low, low[-1] + width[-1]], np.quantile(values, np.linspace(0, 1, 17), method="inverted_cdf"))


@pytest.mark.parametrize(("columns", "bins"), [(2, 16), (22, 16), (30, 12), (60, 6), (90, 4), (300, 4)])
def test_many_columns_have_fewer_bins_each(columns, bins):
    features = Columns().fit(np.random.default_rng(0).normal(size=(100, columns)))
    assert np.bincount(features.bins[:, 0].astype(int)).tolist() == [bins] * columns


def test_values_that_come_again_have_fewer_bins():
    assert Columns().fit(np.array([[0.0], [0.0], [1.0], [1.0]])).bins[:, 0].tolist() == [0]
    halves = Columns().fit(np.repeat([[0.0], [1.0], [5.0]], [80, 10, 10], 0)).bins
    assert len(halves) == 2, "one between each two of the three values"


def test_features_of_files_before_bins_have_none():
    fitted = Columns().fit(FRAME)
    state = {name: value for name, value in fitted.state().items() if name != "bins"}
    assert Columns.restore(json.loads(json.dumps(state))).bins is None
    assert "bins" not in Columns.restore(state).state(), "they are written as they were"
    assert np.array_equal(Columns.restore(json.loads(json.dumps(fitted.state()))).bins, fitted.bins)
