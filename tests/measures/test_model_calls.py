"""Asking about many rows, few at a time."""

import pytest
import torch

from lexplain.measures.model_calls import QueriedFunction, copied


def test_no_more_rows_in_flight_than_told():
    seen = []

    def double(x, y):
        seen.append(len(x))
        return x + y

    x = torch.arange(10.0)[:, None]
    assert torch.equal(QueriedFunction(double, 4).in_parts(double, x, x), 2 * x)
    assert seen == [4, 4, 2]


def test_fewer_rows_where_memory_is_short():
    seen = []

    def tight(x):
        seen.append(len(x))
        if len(x) > 3:
            raise torch.cuda.OutOfMemoryError
        return x

    x = torch.arange(10.0)
    assert torch.equal(QueriedFunction(tight, 100).in_parts(tight, x), x)
    assert seen == [10, 5, 2, 2, 2, 2, 2]


def test_what_does_not_fit_at_all_is_not_tried_for_ever():
    def never(x):
        raise torch.cuda.OutOfMemoryError

    with pytest.raises(torch.cuda.OutOfMemoryError):
        QueriedFunction(never, 4).in_parts(never, torch.zeros(5, 2))


@pytest.mark.parametrize(
    ("copies", "rows", "most", "groups"), [(5, 3, 7, [2, 2, 1]), (3, 10, 4, [1, 1, 1]), (2, 1, 100, [2]), (0, 3, 7, [])]
)
def test_as_many_copies_together_as_may_be_in_flight(copies, rows, most, groups):
    ranges = list(QueriedFunction(torch.sin, most).groups(copies, rows))
    assert [len(group) for group in ranges] == groups
    assert [copy for group in ranges for copy in group] == list(range(copies))


def test_copies_keep_their_rows_together():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert copied(x, 2).tolist() == [[1, 2], [3, 4], [1, 2], [3, 4]]
    target = torch.tensor([1, 0])
    assert QueriedFunction(lambda r: r, 4).class_outputs(copied(x, 3), target).tolist() == [[2, 3]] * 3


def test_outputs_carry_no_gradient():
    assert not QueriedFunction(lambda r: r * 1, 9)(torch.ones(2, 2, requires_grad=True)).requires_grad


def test_a_limit_of_no_rows_raises():
    with pytest.raises(ValueError, match="max_rows"):
        QueriedFunction(torch.sin, 0)
