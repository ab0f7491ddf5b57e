import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings, strategies as st

from lexplain.features import Columns, Groups

FRAME = pd.DataFrame({"age": [20.0, 40, 60], "income": [1.0, 3, 2], "lat": [50.0, 51, 52], "lon": [8.0, 8, 8]})
PLACE = {"place": ["lat", "lon"]}


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
        ({"place": ["lat", "nowhere"]}, "column 'nowhere'"),
        ({"place": [2, 4]}, "column 4"),
        ({"place": [-1]}, "column -1"),
        ({"place": ["lat", "lon"], "north": ["lat"]}, "'lat' is in the groups 'place' and 'north'"),
        ({"place": ["lat", 2]}, "'lat' is in the groups 'place' and 'place'"),
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


def test_a_group_may_hold_columns_of_categories():
    mixed = FRAME.assign(land=["de", "fr", "fr"])
    groups = Groups(groups={"place": ["land", "lat"]}).fit(mixed)
    assert groups.names == ("place", "age", "income", "lon")
    assert (groups.count, groups.shape, groups.owners) == (4, (6,), (1, 2, 0, 3, 0))
    assert groups.expand(torch.tensor([True, False, False, False])).int().tolist() == [0, 0, 1, 0, 1, 1]
    assert groups.gather(torch.tensor([[1.0, 2, 3, 4, 5, 6]])).tolist() == [[14, 1, 2, 4]]
    pd.testing.assert_frame_equal(groups.decode(groups.encode(mixed).x), mixed, rtol=1e-4)
