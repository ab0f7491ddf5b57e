"""What masks and their distributions cost."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from lexplain.core import Batch, as_target
from lexplain.features import Columns, Patches
from lexplain.masks import Bernoulli, ConcreteMax
from lexplain.objectives import Continuity, Irrelevant, Sparsity, TargetRate, ToUniform, rate_of

# ---- the features kept ----

CHANCES = torch.tensor([[0.9, 0.5, 0.1, 0.5], [0.2, 0.2, 0.2, 0.2]])


def rated(chances=CHANCES, valid=None, progress=1.0):
    p = Bernoulli(torch.logit(chances), valid)
    return Batch(torch.zeros(len(chances), 4), as_target(torch.ones(len(chances), 1), real=False), valid=valid, progress=progress, p=p)


VALID = torch.tensor([[True, True, False, False], [True, True, True, True]])


def test_the_price_is_that_of_all_features_or_of_each():
    assert Sparsity(2.0)(rated()).tolist() == pytest.approx([1.0, 0.4])
    assert Sparsity(2.0, each=True)(rated()).tolist() == pytest.approx([4.0, 1.6])


def test_padding_counts_in_no_rate():
    assert rate_of(rated(valid=VALID)).tolist() == pytest.approx([0.7, 0.2])
    assert Sparsity(2.0)(rated(valid=VALID)).tolist() == pytest.approx([1.4, 0.4])
    assert Sparsity(2.0, each=True)(rated(valid=VALID)).tolist() == pytest.approx([2.8, 1.6])
    nothing = rate_of(rated(valid=torch.zeros(2, 4).bool()))
    assert nothing.tolist() == [0, 0]


def test_the_price_warms_up():
    costs = [Sparsity(2.0, warmup=0.2)(rated(progress=progress))[0].item() for progress in (0.0, 0.1, 0.2, 0.9)]
    assert costs == pytest.approx([0.0, 0.5, 1.0, 1.0])
    assert Sparsity(2.0)(rated(progress=0.0))[0].item() == pytest.approx(1.0)


def test_the_target_rate_costs_nothing_at_the_target():
    assert TargetRate(0.35)(rated()).tolist() == pytest.approx([0, 0], abs=1e-6)  # on average over the rows
    assert TargetRate(0.25, price=3.0)(rated()).tolist() == pytest.approx([0.3, 0.3], rel=1e-4)
    assert TargetRate(0.45, price=3.0)(rated()).tolist() == pytest.approx([0.3, 0.3], rel=1e-4)
    assert TargetRate(0.45)(rated(valid=VALID)).tolist() == pytest.approx([0, 0], abs=1e-6)


@pytest.mark.parametrize("penalty", [Sparsity(1.0), Sparsity(1.0, each=True), TargetRate(0.2)], ids=["mean", "sum", "rate"])
def test_fewer_features_cost_less(penalty):
    logits = torch.zeros(3, 4).requires_grad_()
    some = Batch(torch.zeros(3, 4), as_target(torch.ones(3, 1), real=False), p=Bernoulli(logits), progress=1.0)
    (slope,) = torch.autograd.grad(penalty(some).mean(), logits)
    assert (slope > 0).all()


# ---- ragged masks ----


def masked(mask, valid=None):
    rows = mask.shape[2]
    return Batch(torch.zeros(rows, 1), as_target(torch.ones(rows, 1), real=False), mask=mask, valid=valid)


def line(count):
    """The pairs of features in a line."""
    return Columns().fit(np.eye(count)).neighbours()


def squares(rows, columns, channels=1):
    """The pairs of pixels that share an edge."""
    return Patches(1, layout="NCHW", each_channel=True).fit(np.zeros((1, channels, rows, columns))).neighbours()


def breaks_of(row, neighbours=None, price=1.0):
    mask = torch.tensor(row).flatten()
    return Continuity(price, line(len(mask)) if neighbours is None else neighbours)(masked(mask[None, None, None])).item()


@pytest.mark.parametrize(
    ("row", "breaks"),
    [([1, 1, 1, 1], 0), ([0, 0, 0, 0], 0), ([1, 1, 0, 0], 1), ([0, 1, 1, 0], 2), ([1, 0, 1, 0], 3), ([1.0, 0.5, 0.0, 0.0], 1.0)],
)
def test_breaks_in_a_line(row, breaks):
    assert breaks_of(row) == breaks
    assert breaks_of(row, price=0.5) == breaks / 2


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
    assert breaks_of(grid, squares(2, 3)) == breaks


@settings(deadline=None, max_examples=30)
@given(st.lists(st.booleans(), min_size=12, max_size=12))
def test_a_grid_against_its_plain_twin(cells):
    plain = sum(cells[4 * i + j] != cells[4 * i + j + 1] for i in range(3) for j in range(3))
    plain += sum(cells[4 * i + j] != cells[4 * i + 4 + j] for i in range(2) for j in range(4))
    assert breaks_of(cells, squares(3, 4)) == plain


def test_channels_are_no_neighbours():
    one, other = [[1, 1], [0, 0]], [[0, 0], [0, 0]]
    assert breaks_of([one, other], squares(2, 2, channels=2)) == 2
    assert breaks_of([one, one, other], squares(2, 2, channels=3)) == 4


def test_one_cost_a_draw_and_row_and_masks_are_averaged():
    mask = torch.tensor([[[[1, 1, 0]], [[1, 0, 1]]], [[[0, 0, 0]], [[0, 0, 0]]]]).bool()  # (M, L, b, d) = (2, 2, 1, 3)
    assert Continuity(1.0, line(3))(masked(mask)).tolist() == [[1.5], [0.0]]


def test_soft_masks_carry_gradients():
    mask = torch.rand(1, 1, 2, 5).requires_grad_()
    (slope,) = torch.autograd.grad(Continuity(1.0, line(5))(masked(mask)).sum(), mask)
    assert slope.abs().sum() > 0


def test_the_end_of_a_row_is_no_break():
    # Two of two valid words are kept; what follows is padding, which nobody can keep.
    valid = torch.tensor([[True, True, False, False]])
    assert Continuity(1.0, line(4))(masked(valid[None, None], valid)).item() == 0


# ---- marked features ----


def marked(irrelevant):
    p = SimpleNamespace(mean=torch.tensor([[0.9, 0.5, 0.1], [0.2, 0.4, 0.6]]))
    return Batch(torch.zeros(2, 3), as_target(torch.ones(2, 2) / 2, real=False), irrelevant=irrelevant, p=p)


def test_marked_features_cost_their_share_and_rows_without_marks_nothing():
    marks = torch.tensor([[True, False, True], [False, False, False]])
    assert Irrelevant(2.0)(marked(marks)).tolist() == pytest.approx([2 * (0.9 + 0.1) / 2, 0.0])
    assert Irrelevant(2.0)(marked(None)).tolist() == [0.0, 0.0]


def test_marks_go_where_their_rows_go():
    marks = torch.tensor([[True, False, True], [False, True, False]])
    assert marked(marks).take(slice(1, 2)).irrelevant.tolist() == [[False, True, False]]
    assert marked(marks).to("cpu").irrelevant.equal(marks)


# ---- scores far from uniform ----


def drawn(logits, k=3, valid=None, progress=0.0):
    return Batch(
        torch.zeros(len(logits), 4),
        as_target(torch.ones(2, 1), real=False),
        valid=valid,
        p=ConcreteMax(logits, k, valid),
        progress=progress,
    )


def test_equal_scores_are_uniform():
    assert ToUniform(0.5)(drawn(torch.full((2, 4), 7.0))).tolist() == pytest.approx([0, 0], abs=1e-6)


def test_equal_scores_of_the_valid_are_uniform():
    valid = torch.tensor([[True, True, False, False]]).expand(2, -1)
    assert ToUniform(0.5)(drawn(torch.zeros(2, 4), valid=valid)).tolist() == pytest.approx([0, 0], abs=1e-6)


@pytest.mark.parametrize("k", [1, 3])
def test_the_price_is_of_k_divergences_from_uniform(k):
    logits = torch.randn(2, 4)
    share = logits.softmax(-1)
    divergence = [sum(s * (s * 4).log() for s in row).item() for row in share]
    assert ToUniform(0.5)(drawn(logits, k=k)).tolist() == pytest.approx([0.5 * k * d for d in divergence], rel=1e-4)


def test_certain_draws_have_a_finite_price():
    logits = torch.tensor([[200.0, 0, 0, 0], [0, 0, 0, -200.0]]).requires_grad_()
    cost = ToUniform(1.0)(drawn(logits, k=1))
    assert cost[0].item() == pytest.approx(torch.tensor(4.0).log().item(), rel=1e-4)
    (slope,) = torch.autograd.grad(cost.sum(), logits)
    assert slope.isfinite().all()
