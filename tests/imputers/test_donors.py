"""Donors: against a slow search over all background rows."""

import numpy as np
import pytest
import torch
from scipy.stats import norm, rankdata

from lexplain.imputers import Donors
from lexplain.imputers.donors import NEAR

GENERATOR = torch.Generator().manual_seed(0)
NUMBERS = torch.randn(80, 3, generator=GENERATOR) @ torch.tensor([[1.0, 0.9, 0], [0, 0.4, 0], [0, 0, 1]])
KINDS = torch.eye(3)[torch.randint(3, (80,), generator=GENERATOR)]
ROWS = torch.cat([NUMBERS.exp(), KINDS], 1)  # three numbers and one category


def slow_distances(row, mask):
    """Squared distances of one row of the background to all of them on the visible columns, from ranks."""
    scores = norm.ppf((rankdata(NUMBERS.exp().numpy(), axis=0)) / (len(ROWS) + 1))
    numbers = (np.square(scores - scores[row]) * mask[:3]).sum(1)
    return numbers + (np.square(KINDS.numpy() - KINDS[row].numpy()) * mask[3:]).sum(1)


@pytest.mark.parametrize("mask", [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]])
def test_donors_are_the_nearest_rows(mask):
    draws = torch.linspace(0, 0.999, 400, dtype=torch.float64).expand(80, -1)
    found = Donors.fit(ROWS).draw(ROWS, torch.tensor(mask, dtype=torch.bool).expand(80, -1), draws)
    for row in range(80):
        distances = slow_distances(row, np.array(mask))
        distances[row] = np.inf  # a row is not its own donor
        chosen = set(found[row].tolist())
        surely = set(np.argsort(distances)[: NEAR - 3].tolist())  # ranks are rounded to 1 / 256
        assert surely <= chosen <= set(np.argsort(distances)[: NEAR + 3].tolist())


def test_rows_that_are_equally_near_are_all_donors():
    draws = torch.linspace(0, 0.9999, 4000, dtype=torch.float64)[None]
    nothing = Donors.fit(ROWS).draw(ROWS[:1], torch.zeros(1, 6, dtype=torch.bool), draws)
    assert set(nothing[0].tolist()) == set(range(1, 80))  # nothing is kept: every other row
    of_a_kind = Donors.fit(ROWS).draw(ROWS[:1], torch.tensor([[0, 0, 0, 1, 1, 1]]).bool(), draws)
    assert set(of_a_kind[0].tolist()) == set((KINDS[0] == KINDS).all(1).nonzero()[1:, 0].tolist())
    assert (np.diff(np.unique(of_a_kind, return_counts=True)[1]) <= 1).all()  # each as often


def test_a_background_of_equal_rows_is_used():
    same = torch.ones(5, 2)
    assert Donors.fit(same)(same, torch.zeros(5, 2, dtype=torch.bool)).tolist() == same.tolist()
