"""Estimates: intervals that hold what they claim. Ranks: worked numbers, and scipy's correlation."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from scipy.stats import spearmanr

from lexplain.measures.prediction import auroc
from lexplain.measures.statistics import (
    Estimate,
    bootstrap,
    centred_ranks,
    holm,
    paired_difference,
    paired_test,
    placement,
    positions,
)

EXPERIMENTS = 300
BINOMIAL_ERROR = 4 * math.sqrt(0.95 * 0.05 / EXPERIMENTS)


def covered(draw, true_mean):
    """Share of repeated experiments whose interval holds the true mean."""
    estimates = [bootstrap(draw(torch.Generator().manual_seed(s)), seed=s, resamples=400) for s in range(EXPERIMENTS)]
    return np.mean([e.low <= true_mean <= e.high for e in estimates])


def test_reads_as_mean_and_interval():
    assert str(Estimate(0.8031, 0.7949, 0.8111, n=10)) == "0.803 [0.795, 0.811]"
    assert Estimate(-0.00001, -0.0006, math.nan, n=10).to_text("nats") == "0.000 nats [-0.001, nan]", "what rounds to nothing has no sign"


@pytest.mark.parametrize(
    ("draw", "true_mean"),
    [
        (lambda g: torch.randn(80, generator=g), 0.0),
        (lambda g: (torch.rand(80, generator=g) < 0.3).double(), 0.3),
    ],
    ids=["continuous", "binary"],
)
def test_covers_the_truth_as_often_as_it_says(draw, true_mean):
    assert abs(covered(draw, true_mean) - 0.95) < BINOMIAL_ERROR


def test_covers_the_true_auroc():
    """Bare placements of unbalanced classes would cover it half as often as claimed."""

    def draw(generator):
        y = torch.arange(100) % 5 == 0
        score = (torch.randn(100, generator=generator) + y).sigmoid()
        return auroc(torch.stack([1 - score, score], 1), y.long())

    true_auroc = (1 + math.erf(1 / 2)) / 2  # two unit normals one apart
    assert abs(covered(draw, true_auroc) - 0.95) < BINOMIAL_ERROR


@pytest.mark.parametrize("few", [False, True], ids=["rows", "counts"])
def test_interval_is_the_textbooks(few):
    draws = torch.rand(500, generator=torch.Generator().manual_seed(0)).double()
    values = (draws < 0.5).double() if few else draws
    estimate = bootstrap(values, level=0.9, resamples=20_000)
    half = 1.6449 * values.std().item() / math.sqrt(500)  # the mean of 500 is close to normal
    assert estimate.mean == pytest.approx(values.mean().item())
    assert estimate.high - estimate.mean == pytest.approx(half, rel=0.1)
    assert estimate.mean - estimate.low == pytest.approx(half, rel=0.1)
    assert (estimate.n, estimate.level) == (500, 0.9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.sampled_from([0.01, 0.5, 0.95]))
def test_interval_contains_the_mean(values, level):
    estimate = bootstrap(torch.tensor(values, dtype=torch.float64), level=level, resamples=100)
    assert estimate.low <= estimate.mean <= estimate.high


@settings(deadline=None)
@given(st.floats(-1e6, 1e6), st.integers(1, 40))
def test_equal_values_leave_no_doubt(value, n):
    estimate = bootstrap(torch.full((n,), value, dtype=torch.float64), resamples=20)
    assert estimate.low == estimate.mean == estimate.high == value


def test_seeds_reproduce_and_leave_the_world_alone():
    values = torch.rand(50)
    state = torch.get_rng_state()
    assert bootstrap(values, seed=3) == bootstrap(values, seed=3)
    assert bootstrap(values, seed=3) != bootstrap(values, seed=4)
    assert torch.equal(state, torch.get_rng_state())


def test_chunks_do_not_change_the_result(monkeypatch):
    values = torch.rand(50)
    whole = bootstrap(values)
    monkeypatch.setattr("lexplain.measures.statistics.CELLS", 120)
    assert bootstrap(values) == whole


def test_instances_without_a_value_are_left_out():
    values = torch.tensor([1.0, torch.nan, 0.0, torch.nan])
    assert bootstrap(values) == bootstrap(torch.tensor([1.0, 0.0]))
    assert bootstrap(values).n == 2
    nothing = bootstrap(torch.full((3,), torch.nan))
    assert nothing.n == 0
    assert math.isnan(nothing.mean)


def test_paired_difference_sees_what_two_intervals_hide():
    rows = torch.randn(200, generator=torch.Generator().manual_seed(0))
    better = rows + 0.1
    difference = paired_difference(better, rows)
    assert difference.mean == pytest.approx(0.1, abs=1e-6)
    assert difference.low > 0
    assert bootstrap(rows).high > bootstrap(better).low
    how = {"level": 0.5, "resamples": 50, "seed": 7}
    assert paired_difference(rows, torch.zeros(200), **how) == bootstrap(rows, **how)
    assert paired_difference(torch.tensor([1.0, torch.nan, 3.0]), torch.tensor([0.0, 1.0, torch.nan])).n == 1


def test_holm_by_hand():
    assert holm(torch.tensor([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(torch.tensor([0.6, 0.7])).tolist() == [1, 1]
    assert holm(torch.tensor([0.2])).tolist() == pytest.approx([0.2])
    assert holm(torch.zeros(0)).tolist() == []


def test_paired_test_of_few_rows_is_enumeration():
    a, b = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0, 2.0]), torch.tensor([1.0, 2.0, 1.0, 1.0, 0.0, torch.nan])
    difference = [2, -1, 3, 0, 5]
    flips = [abs(sum(s * d for s, d in zip(signs, difference, strict=True))) for signs in itertools.product([1, -1], repeat=5)]
    assert paired_test(a, b) == sum(f >= 9 for f in flips) / 32 == 0.25
    assert paired_test(a, a) == 1
    assert paired_test(torch.ones(8), torch.zeros(8)) == 2 / 256


@pytest.mark.parametrize("few", [False, True], ids=["continuous", "equal differences"])
def test_flipping_at_random_approaches_enumeration(few):
    a = torch.randn(12, generator=torch.Generator().manual_seed(0)) + 0.4
    a = torch.tensor([1.0] * 9 + [-1.0] * 3) if few else a
    exact = paired_test(a, torch.zeros(12), resamples=2**12)
    assert 0.01 < exact < 0.9
    assert paired_test(a, torch.zeros(12), resamples=4000) == pytest.approx(exact, abs=0.018)
    assert paired_test(a, torch.zeros(12), resamples=500, seed=1) == paired_test(a, torch.zeros(12), resamples=500, seed=1)


def test_paired_test_rejects_as_often_as_it_says():
    draw = torch.Generator().manual_seed(0)
    p = [paired_test(*torch.randn(2, 30, generator=draw), resamples=300) for _ in range(300)]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=BINOMIAL_ERROR)
    assert paired_test(torch.randn(100, generator=draw) + 1, torch.zeros(100), resamples=300) == 1 / 301  # never 0


def test_placement_counts_ties_half():
    assert placement(torch.tensor([0.0, 1.0, 2.0, 9.0]), torch.tensor([2.0, 1.0, 1.0, 3.0])).tolist() == [0, 0.25, 0.625, 1]
    columns = torch.tensor([[0.0, 4.0], [2.0, 3.0], [1.0, 3.0]]).T
    assert placement(columns, columns).tolist() == [[1 / 6, 5 / 6, 0.5], [5 / 6, 1 / 3, 1 / 3]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bootstrap(torch.zeros(0)), r"\(0,\)"),
        (lambda: bootstrap(torch.zeros(2, 3)), r"\(2, 3\)"),
        (lambda: bootstrap(torch.tensor([0.0, -torch.inf])), "infinite"),
        (lambda: bootstrap(torch.zeros(2), level=95), "level=95"),
        (lambda: bootstrap(torch.zeros(2), resamples=0), "resamples=0"),
        (lambda: paired_difference(torch.zeros(2), torch.zeros(3)), r"\(2,\) and \(3,\)"),
        (lambda: paired_test(torch.zeros(2), torch.zeros(3)), r"\(2,\) and \(3,\)"),
        (lambda: paired_test(torch.zeros(2), torch.zeros(2), resamples=0), "resamples"),
        (lambda: holm(torch.tensor([0.1, 1.1])), "from 0 to 1"),
        (lambda: holm(torch.tensor([0.1, torch.nan])), "from 0 to 1"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# ---- scores as ranks ----


def test_positions_by_hand():
    assert positions(torch.tensor([[0.1, 0.9, 0.5], [3.0, 2.0, 1.0]])).tolist() == [[2, 0, 1], [0, 1, 2]]


def test_ties_change_places_at_random_and_others_do_not():
    scores = torch.tensor([0.0, 1.0, 0.0, 0.0]).expand(3000, -1)
    placed = positions(scores, torch.Generator().manual_seed(0))
    assert (placed[:, 1] == 0).all()
    assert (placed.sort(1).values == torch.arange(4)).all()
    assert placed[:, [0, 2, 3]].double().mean(0).tolist() == pytest.approx([2, 2, 2], abs=0.1)
    assert torch.equal(placed, positions(scores, torch.Generator().manual_seed(0)))


def test_inner_product_of_ranks_is_scipys_rank_correlation():
    rng = np.random.default_rng(0)
    a, b = rng.integers(4, size=(2, 20, 9)).astype(float)  # many ties
    ours = (centred_ranks(torch.tensor(a)) * centred_ranks(torch.tensor(b))).sum(-1)
    assert ours.tolist() == pytest.approx([spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)])
    assert centred_ranks(torch.ones(1, 3)).isnan().all()
