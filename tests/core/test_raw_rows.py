"""Raw rows of any form."""

import numpy as np
import pandas as pd
import pytest
import torch

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
    "array": (NUMBERS.reshape(2, 3), "5a40409ad9cfe77cff14c8a8560f3c6d"),
    "tensor": (torch.from_numpy(NUMBERS.reshape(2, 3)), "5a40409ad9cfe77cff14c8a8560f3c6d"),
    "frame": (pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}), "3c7c7fab2722ca8265f23ae90abae578"),
    "texts": (["one", "three"], "05b14792f2403d52f47bad28e0916bdb"),
    "different lengths": ([np.zeros(2, dtype="<f4"), np.zeros(3, dtype="<f4")], "ada0a2ef5bb8eb86b8dd498cbf684b21"),
}


@pytest.mark.parametrize("name", FORMS)
def test_equal_rows_share_a_digest(name):
    rows, digest = FORMS[name]
    assert rows_digest(rows).hex() == digest


def test_other_rows_have_another_digest():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    rows = [NUMBERS, NUMBERS.T, NUMBERS.astype("<f8"), NUMBERS + 1, frame, frame.rename(columns={"a": "b"}), TEXTS, TEXTS[:2], [TEXTS]]
    assert len({rows_digest(each) for each in rows}) == len(rows)
    assert rows_digest(frame) == rows_digest(frame.set_axis(["x", "y"]))  # the index does not count
