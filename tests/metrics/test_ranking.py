"""Scores as ranks: worked numbers, and scipy's correlation."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from lexplain.metrics.ranking import centred_ranks, positions


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
