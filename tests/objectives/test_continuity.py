import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from lexplain.core import Trial, as_target
from lexplain.features import Columns, Patches
from lexplain.objectives import Continuity


def trial(mask, valid=None):
    rows = mask.shape[2]
    return Trial(torch.zeros(rows, 1), as_target(torch.ones(rows, 1), real=False), mask=mask, valid=valid)


def line(count):
    """The pairs of features in a line."""
    return Columns().fit(np.eye(count)).neighbours()


def squares(rows, columns, channels=1):
    """The pairs of pixels that share an edge."""
    return Patches(1, layout="NCHW", each_channel=True).fit(np.zeros((1, channels, rows, columns))).neighbours()


def cost(row, neighbours=None, price=1.0):
    mask = torch.tensor(row).flatten()
    return Continuity(price, line(len(mask)) if neighbours is None else neighbours)(trial(mask[None, None, None])).item()


@pytest.mark.parametrize(
    ("row", "breaks"),
    [([1, 1, 1, 1], 0), ([0, 0, 0, 0], 0), ([1, 1, 0, 0], 1), ([0, 1, 1, 0], 2), ([1, 0, 1, 0], 3), ([1.0, 0.5, 0.0, 0.0], 1.0)],
)
def test_breaks_in_a_line(row, breaks):
    assert cost(row) == breaks
    assert cost(row, price=0.5) == breaks / 2


@pytest.mark.parametrize(
    ("grid", "breaks"),
    [
        ([[1, 1, 1], [1, 1, 1]], 0),
        ([[1, 0, 0], [0, 0, 0]], 2),
        ([[0, 1, 0], [0, 0, 0]], 3),
        ([[1, 1, 1], [0, 0, 0]], 3),
        ([[1, 0, 0], [1, 0, 0]], 2),
        ([[1, 0, 1], [0, 1, 0]], 7),
    ],
)
def test_breaks_on_a_grid(grid, breaks):
    assert cost(grid, squares(2, 3)) == breaks


@settings(deadline=None, max_examples=30)
@given(st.lists(st.booleans(), min_size=12, max_size=12))
def test_a_grid_against_its_plain_twin(cells):
    plain = sum(cells[4 * i + j] != cells[4 * i + j + 1] for i in range(3) for j in range(3))
    plain += sum(cells[4 * i + j] != cells[4 * i + 4 + j] for i in range(2) for j in range(4))
    assert cost(cells, squares(3, 4)) == plain


def test_channels_are_no_neighbours():
    one, other = [[1, 1], [0, 0]], [[0, 0], [0, 0]]
    assert cost([one, other], squares(2, 2, channels=2)) == 2
    assert cost([one, one, other], squares(2, 2, channels=3)) == 4


def test_one_cost_a_draw_and_row_and_masks_are_averaged():
    mask = torch.tensor([[[[1, 1, 0]], [[1, 0, 1]]], [[[0, 0, 0]], [[0, 0, 0]]]]).bool()  # (M, L, b, d) = (2, 2, 1, 3)
    assert Continuity(1.0, line(3))(trial(mask)).tolist() == [[1.5], [0.0]]


def test_soft_masks_carry_gradients():
    mask = torch.rand(1, 1, 2, 5).requires_grad_()
    (slope,) = torch.autograd.grad(Continuity(1.0, line(5))(trial(mask)).sum(), mask)
    assert slope.abs().sum() > 0


def test_the_end_of_a_row_is_no_break():
    # Two of two valid words are kept; what follows is padding, which nobody can keep.
    valid = torch.tensor([[True, True, False, False]])
    assert Continuity(1.0, line(4))(trial(valid[None, None], valid)).item() == 0
