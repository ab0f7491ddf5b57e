"""Raw rows of any form."""

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, strategies as st

from lexplain.core.rows import joined_rows, rows_digest, take_rows

NUMBERS = np.arange(6, dtype="<f4").reshape(3, 2)
TEXTS = ["a fine film", "dull", "too long"]


@pytest.mark.parametrize(
    "rows", [NUMBERS, torch.from_numpy(NUMBERS), pd.DataFrame(NUMBERS, index=["a", "b", "c"])], ids=["array", "tensor", "frame"]
)
def test_rows_of_a_table_are_taken(rows):
    taken = take_rows(rows, np.array([2, 0]))
    assert type(taken) is type(rows)
    assert np.asarray(taken).tolist() == [[4, 5], [0, 1]]


@pytest.mark.parametrize("rows", [TEXTS, tuple(TEXTS), pd.Series(TEXTS)], ids=["list", "tuple", "series"])
def test_rows_of_a_sequence_are_taken(rows):
    assert list(take_rows(rows, np.array([2, 0]))) == ["too long", "a fine film"]
    assert list(take_rows(rows, np.array([], dtype=int))) == []
    assert take_rows(None, np.array([0])) is None


def test_only_two_frames_are_joined():
    one, other = pd.DataFrame({"a": ["x"]}), pd.DataFrame({"a": ["y", "z"]})
    assert joined_rows(one, other)["a"].tolist() == ["x", "y", "z"]
    assert joined_rows(None, other) is joined_rows(NUMBERS, other) is other
    assert joined_rows(one, NUMBERS) is NUMBERS
    assert joined_rows(TEXTS, TEXTS) is TEXTS


FORMS = {
    "array": lambda: np.arange(6.0).reshape(2, 3),
    "part of an array": lambda: np.arange(12.0).reshape(2, 6)[:, ::2],
    "array of objects": lambda: np.array([[fresh("a word"), 1], [None, 2.5]], dtype=object),
    "array of texts": lambda: np.array([fresh("one"), "three"]),
    "array of long texts": lambda: np.array([fresh("one" * 40)], dtype=np.dtypes.StringDType()),
    "array of arrays": lambda: np.array([np.zeros(2), np.zeros(3)], dtype=object),
    "times": lambda: np.array(["2020-01-01"], dtype="datetime64[s]"),
    "tensor": lambda: torch.arange(6.0).reshape(2, 3),
    "short tensor": lambda: torch.arange(6.0, dtype=torch.bfloat16).reshape(2, 3),
    "series": lambda: pd.Series([fresh("one"), "three"], index=[7, 8]),
    "series of objects": lambda: pd.Series([fresh("one"), "three"], dtype=object),
    "frame": lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [fresh("u"), "v"]}),
    "frame of objects": lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [fresh("u"), "v"]}, dtype=object),
    "frame of categories": lambda: pd.DataFrame({"a": pd.Categorical([fresh("u"), "v"])}),
    "frame of ordered categories": lambda: pd.DataFrame({"a": pd.Categorical(["u", "v"], ordered=True)}),
    "frame of more categories": lambda: pd.DataFrame({"a": pd.Categorical(["u", "v"], categories=["u", "v", "w"])}),
    "frame of bins": lambda: pd.DataFrame({"a": pd.cut([0.1, 0.2, 0.9], 2)}),
    "frame of nullable numbers": lambda: pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    "frame of dates": lambda: pd.DataFrame({"a": pd.to_datetime(["2020", "2021"]).tz_localize("UTC")}),
    "frame of one index": lambda: pd.DataFrame({("a", 1): [1.0]}),
    "texts": lambda: [fresh("one"), "three"],
    "tuple of texts": lambda: ("one", "three"),
    "lists of words": lambda: [[fresh("one"), "two"], ["three"]],
    "different lengths": lambda: [np.zeros(2), np.zeros(3)],
    "tensors": lambda: [torch.zeros(2), torch.zeros(3)],
}


def fresh(text):
    """An equal text at another address."""
    return "".join(list(text))


def test_rows_share_a_digest_only_with_equal_rows():
    digests = {name: rows_digest(make()) for name, make in FORMS.items()}
    assert None not in digests.values()
    assert len(set(digests.values())) == len(FORMS)
    assert digests == {name: rows_digest(make()) for name, make in FORMS.items()}


def test_other_rows_have_another_digest():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    rows = [NUMBERS, NUMBERS.T, NUMBERS.astype("<f8"), NUMBERS + 1, frame, frame.rename(columns={"a": "b"}), TEXTS, TEXTS[:2], [TEXTS]]
    assert len({rows_digest(each) for each in rows}) == len(rows)
    assert rows_digest(frame) == rows_digest(frame.set_axis(["x", "y"]))  # the index does not count


CELLS = [1, 1.0, True, "1", b"1", None, "None", float("nan"), "nan", pd.NA, pd.NaT, np.float64(1), np.float32(1), np.str_("1"), (1,), [1]]
CELLS += [0.0, -0.0, "", pd.Timestamp("2020-01-01"), "2020-01-01", pd.Interval(0, 1), "1\0", Decimal(1)]


def column_of(cells):
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


FORMS_OF_CELLS = {
    "list": list,
    "tuple": tuple,
    "array": column_of,
    "series": lambda cells: pd.Series(column_of(cells), dtype=object),
    "frame": lambda cells: pd.DataFrame({"a": column_of(cells)}, dtype=object),
}


@pytest.mark.parametrize("form", FORMS_OF_CELLS.values(), ids=FORMS_OF_CELLS)
def test_other_cells_have_another_digest(form):
    pairs = [form([one, other]) for one in CELLS for other in CELLS]
    assert len({rows_digest(each) for each in pairs}) == len(CELLS) ** 2


cells = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3)
nested = st.recursive(cells, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=6)


@given(one=st.lists(nested, max_size=4), other=st.lists(nested, max_size=4))
def test_any_cells_share_a_digest_exactly_if_they_are_equal(one, other):
    assert (rows_digest(one) == rows_digest(other)) == (repr(one) == repr(other))
    assert rows_digest(one) == rows_digest(pickle.loads(pickle.dumps(one)))  # at other addresses
    assert rows_digest(column_of(one)) == rows_digest(column_of(one).copy()) is not None


class Unknown:
    """A cell whose content is not known."""


@pytest.mark.parametrize(
    "rows",
    [[Unknown()], np.array([Unknown()], dtype=object), pd.DataFrame({"a": [Unknown()]}), Unknown(), np.ma.array([1.0]), [{"a": 1}]],
    ids=["list", "array", "frame", "object", "masked", "dictionaries"],
)
def test_rows_of_unknown_content_have_no_digest(rows):
    assert rows_digest(rows) is None


def test_a_list_that_contains_itself_has_no_digest():
    rows = []
    rows.append(rows)
    assert rows_digest(rows) is None
