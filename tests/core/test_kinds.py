"""Kinds of input: found by name, by the rows that suit them, and registered from outside."""

from dataclasses import replace

import numpy as np
import pytest

import lexplain as lx
from lexplain.core.kinds import features_for, kind_of, kinds
from lexplain.core.rows import MAX_ROWS
from lexplain.features import Columns, Patches
from lexplain.kinds import Pace
from lexplain.kinds.columns import COLUMNS


class Mine(Columns):
    kind = "mine"


def test_a_kind_is_found_by_features_and_by_name():
    assert kind_of(Columns()) is kind_of("columns") is COLUMNS
    assert list(kinds()) == ["columns", "patches"]


def test_an_unknown_kind_is_refused_until_it_is_registered(register):
    with pytest.raises(ValueError, match=r"Unknown kind of features 'mine'. Choose one of: columns, patches; or add yours with lex"):
        kind_of(Mine())
    mine = register(replace(COLUMNS, name="mine"))
    assert kind_of(Mine()) is mine
    other = register(replace(COLUMNS, name="mine", flat=False))
    assert kind_of("mine") is other  # the same name replaces it
    assert lx.register.__doc__ == register.__doc__


def test_rows_choose_their_kind_and_the_last_registered_is_asked_first(register):
    table, images = np.zeros((3, 4)), np.zeros((3, 8, 8))
    assert isinstance(features_for(table), Columns) and isinstance(features_for(images), Patches)
    assert isinstance(features_for(np.zeros((3, 8, 1))), Columns)  # one axis longer than 1
    assert isinstance(features_for([[1.0], [1.0, 2.0]]), Columns)  # which refuse it in better words
    register(replace(COLUMNS, name="mine", suits=lambda X: len(X) == 3, features=Mine))
    assert isinstance(features_for(images), Mine) and isinstance(features_for(table), Mine)
    assert not isinstance(features_for(table[:2]), Mine)


def test_many_numbers_are_fewer_rows_in_one_call():
    images = Patches(8).fit(np.zeros((2, 3, 128, 256)))
    assert Pace().max_rows(images) == MAX_ROWS
    assert kind_of(images).pace.max_rows(images) == 2**23 // (3 * 128 * 256)
    assert Pace(max_numbers=30).max_rows(Columns().fit(np.eye(3))) == 10
    assert Pace(max_numbers=1).max_rows(images) == 1
