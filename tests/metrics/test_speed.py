"""Speed, with a clock of our own."""

from math import inf

import pytest
import torch

from lexplain.auditing.kernel_shap import one_by_one
from lexplain.metrics.speed import Speed, break_even, pays_from, speed


def test_the_first_call_does_not_count_and_the_median_does():
    now, costs = [0.0], iter([100.0, 3.0, 1.0, 50.0])

    def explain(x):
        now[0] += next(costs)
        return x

    measured = speed(explain, torch.zeros(10, 2), repeats=3, clock=lambda: now[0])
    assert measured == Speed(10, (3.0, 1.0, 50.0))
    assert measured.seconds_a_row == pytest.approx(0.3)
    assert str(Speed(10, (2e-5,))) == "2 µs a row (10 rows at once)"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_waits_for_the_device():
    x = torch.rand(4000, 4000, device="cuda")
    done = []

    def explain(x):
        for _ in range(20):
            y = x @ x
        done.append(torch.cuda.Event())
        done[-1].record()
        return y

    asked = []
    speed(explain, x, repeats=2, clock=lambda: asked.append(done[-1].query()) or 0.0)
    assert all(asked)  # whenever the clock is read, all work is done


@pytest.mark.parametrize(
    ("fit", "own", "peer", "rows"),
    [(60, 0.0, 0.03, 2000), (1, 0.1, 0.6, 2), (1, 0.1, 0.5, 3), (1, 0.5, 0.5, inf), (1, 2, 1, inf), (0, 1, 1, 0), (0, 2, 1, inf)],
)
def test_break_even_by_hand(fit, own, peer, rows):
    assert break_even(fit, own, peer) == rows
    if 0 < rows < inf:
        assert fit + rows * own <= rows * peer
        assert fit + (rows - 1) * own > (rows - 1) * peer


def test_refuses_no_rows():
    with pytest.raises(ValueError, match="rows=0"):
        speed(lambda x: x, torch.zeros(0, 2))


def test_rows_are_timed_one_by_one_and_the_first_call_does_not_count():
    now, costs = [0.0], iter([100.0, 3.0, 1.0, 5.0])

    def explain(row):
        now[0] += next(costs)

    assert one_by_one(explain, torch.zeros(3, 2).numpy(), clock=lambda: now[0]).tolist() == [3.0, 1.0, 5.0]


def test_the_rows_that_a_fit_pays_from_have_the_interval_of_the_timed_rows():
    peer = torch.tensor([1.0, 2.0, 3.0])
    found = pays_from(12.0, 0.5, peer)
    assert (found.mean, found.n) == (8, 3)  # 12 / (2 - 0.5)
    assert (found.low, found.high) == (5, 24)  # means of three draws reach from 1 to 3: 12 / 2.5 and 12 / 0.5
    assert pays_from(12.0, 9.0, peer).mean == inf
    assert pays_from(12.0, 1.0, peer).high == inf  # it may be that it never pays
