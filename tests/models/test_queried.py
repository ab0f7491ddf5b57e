"""Models that are queried: counts, parts, checks and kept outputs."""

import time

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, strategies as st

from lexplain.models import QueriedModel


def sums(rows):
    return np.asarray(rows, dtype=float).sum(1)


def lengths(rows):
    return np.array([float(text.split()[1]) for text in rows])


@pytest.mark.parametrize(
    "form", [lambda text: np.array([text], dtype=object), lambda text: pd.Series([text]), lambda text: pd.Series([text], dtype=object)]
)
def test_texts_are_known_by_their_content(form):
    model = QueriedModel(lengths)
    assert [model(form(f"word {i}")).item() for i in range(200)] == list(range(200))
    assert (model.calls, model.rows) == (200, 200)
    assert [model(form(f"word {i}")).item() for i in range(192, 200)] == list(range(192, 200))
    assert model.calls == 200


def test_rows_that_look_alike_are_queried_apart():
    model = QueriedModel(sums)
    flat = np.arange(6.0)
    assert model(flat.reshape(2, 3)).tolist() == [3, 12]
    assert model(flat.reshape(3, 2)).tolist() == [1, 5, 9]
    assert model(np.array([[1.0, 2.0]])).tolist() == [3]
    assert model(np.array([[1, 2]])).tolist() == [3]
    assert model(np.array([[2.0, 1.0]])).tolist() == [3]
    assert model.calls == 5
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    assert model(frame).tolist() == [3, 3]
    model(frame.iloc[::-1])
    model(frame.iloc[:1])
    assert model.calls == 8


def test_the_same_numbers_under_other_names_are_another_query():
    model = QueriedModel(lambda rows: rows["a"].to_numpy())
    assert model(pd.DataFrame({"a": [1.0], "b": [2.0]})).tolist() == [1]
    assert model(pd.DataFrame({"b": [1.0], "a": [2.0]})).tolist() == [2]


def test_the_oldest_outputs_are_dropped():
    model = QueriedModel(sums)
    for i in range(40):
        model(np.full((1, 1), i))
    model(np.full((1, 1), 39))
    assert model.calls == 40
    model(np.full((1, 1), 0))
    assert model.calls == 41
    assert len(model._outputs) <= 10


@given(rows=st.integers(0, 12), max_rows=st.none() | st.integers(1, 13), columns=st.integers(0, 3))
def test_rows_are_queried_in_parts(rows, max_rows, columns):
    sizes = []

    def function(part):
        sizes.append(len(part))
        values = np.asarray(part).reshape(len(part), 1)
        return np.repeat(values, columns, axis=1) if columns else values[:, 0]

    model, X = QueriedModel(function, max_rows=max_rows), np.arange(float(rows))[:, None]
    for form in (X, torch.from_numpy(X), pd.DataFrame(X), X.tolist()):
        assert np.array_equal(model(form), function(X))
        sizes.pop()
    assert max(sizes) <= (max_rows or 12) and sum(sizes) == model.rows == 4 * rows
    assert len(sizes) == model.calls == 4 * max(1, -(-rows // (max_rows or 12)))


def test_seconds_are_those_of_the_function():
    model = QueriedModel(lambda rows: time.sleep(0.02) or sums(rows), max_rows=1)
    model(np.zeros((3, 2)))
    assert 0.06 <= model.seconds < 0.5
    before = model.seconds
    model(np.zeros((3, 2)))
    assert model.seconds == before


@pytest.mark.parametrize(("cached", "again"), [(0, True), (8, False)])
def test_rows_that_do_not_come_again_are_neither_hashed_nor_kept(cached, again, monkeypatch):
    monkeypatch.setattr("lexplain.models.queried.rows_digest", None)
    model = QueriedModel(sums, cached=cached)
    assert [model(np.ones((2, 3)), again=again).tolist() for _ in range(2)] == [[3, 3]] * 2
    assert (model.calls, model.rows, model._outputs) == (2, 4, {})


def test_rows_of_unknown_content_are_queried_each_time():
    class Text:
        def __init__(self, text):
            self.text = text

    model = QueriedModel(lambda rows: lengths([row.text for row in rows]))
    assert [model([Text(f"word {i}")]).item() for i in (1, 2, 2)] == [1, 2, 2]
    assert model.calls == 3


@pytest.mark.parametrize("wrong", ["raises", "shape", "NaN"])
def test_a_failing_call_leaves_nothing_behind(wrong):
    state = {"fails": True}

    def function(rows):
        if not state["fails"] or rows[0, 0] == 0:
            return sums(rows)
        if wrong == "raises":
            raise RuntimeError("broken")
        return np.zeros((len(rows) - 1, 7)) if wrong == "shape" else np.full((len(rows), 7), np.nan)

    for max_rows in (None, 2):  # the first part is answered, the second is not
        rows, state["fails"] = np.arange(8.0).reshape(4, 2) + (1 if max_rows is None else 0), True
        model = QueriedModel(function, max_rows=max_rows)
        for _ in range(2):
            with pytest.raises((RuntimeError, ValueError)):
                model(rows)
        assert model._outputs == {}
        state["fails"] = False
        assert model(rows).tolist() == sums(rows).tolist()


def test_every_call_returns_as_many_columns():
    model = QueriedModel(lambda rows: np.full((len(rows), 1 + len(rows)), 0.5), max_rows=2)
    with pytest.raises(ValueError, match="returned 2 numbers per row, but 3 are needed"):
        model(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="returned 2 numbers per row, but 3 are needed"):
        model(np.zeros((1, 1)))
    mixed = QueriedModel(lambda rows: rows[:, 0] if len(rows) == 1 else rows[:, :1], max_rows=2)
    assert mixed(np.arange(3.0)[:, None]).tolist() == [[0], [1], [2]]


def test_a_function_may_reuse_its_array():
    buffer = np.zeros(1)

    def function(rows):
        buffer[:] = rows[0, 0]
        return buffer

    model = QueriedModel(function, max_rows=1)
    assert model(np.array([[1.0], [2.0]])).tolist() == [1, 2]
    model(np.array([[3.0]]))
    assert model(np.array([[1.0], [2.0]])).tolist() == [1, 2]


@pytest.mark.parametrize("max_rows", [0, -1, 2.5])
def test_max_rows_is_a_number_of_rows(max_rows):
    with pytest.raises(ValueError, match="max_rows must be a positive integer"):
        QueriedModel(sums, max_rows=max_rows)
