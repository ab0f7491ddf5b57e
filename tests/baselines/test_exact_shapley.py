"""Shapley values by enumeration."""

from itertools import permutations

import pytest
import torch
from exact_shapley import exact_shapley


def game(masks):
    """A game with an interaction of the first two players, and a dummy."""
    on = masks.double()
    return torch.stack([on[:, 0] + 2 * on[:, 2] - 3 * on[:, 0] * on[:, 1], on[:, 0] * on[:, 1] * on[:, 2]], 1)


def by_orders(value, count):
    """The mean gain of each player over every order in which they may come."""
    gains = torch.zeros(count, 2, dtype=torch.double)
    orders = list(permutations(range(count)))
    for order in orders:
        mask = torch.zeros(1, count, dtype=torch.bool)
        for player in order:
            before = value(mask)[0]
            mask[0, player] = True
            gains[player] += value(mask)[0] - before
    return gains / len(orders)


def test_it_is_the_mean_gain_over_all_orders():
    values = exact_shapley(game, 4)
    assert values.shape == (4, 2)
    assert torch.allclose(values, by_orders(game, 4))
    assert torch.allclose(values, torch.tensor([[-0.5, 1 / 3], [-1.5, 1 / 3], [2.0, 1 / 3], [0.0, 0.0]]).double())


@pytest.mark.parametrize("count", [1, 10])
def test_an_additive_game_gives_back_its_weights(count):
    weights = torch.arange(1.0, count + 1).double()
    assert torch.allclose(exact_shapley(lambda masks: masks.double() @ weights + 5, count), weights)
