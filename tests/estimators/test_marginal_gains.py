"""Marginal gains, against the enumeration of every mask."""

from itertools import product

import pytest
import torch

from lexplain.estimators import MarginalGains
from lexplain.masks import Bernoulli

COUNT, ROWS = 4, 3
GENERATOR = torch.Generator().manual_seed(0)
TABLE = torch.rand(2**COUNT, ROWS, generator=GENERATOR)  # the cost of each mask in each row, in any order
LOGITS = torch.randn(ROWS, COUNT, generator=GENERATOR)


def cost(masks):
    """Costs (M, b) of masks (M, 1, b, d): looked up."""
    place = (masks[:, 0].long() * 2 ** torch.arange(COUNT)).sum(-1)
    return TABLE.repeat(1, place.shape[1] // ROWS).gather(0, place)


def enumerated(policy):
    """E over the masks of the other features of cost without j minus cost with j."""
    gains = torch.zeros(ROWS, COUNT)
    for bits in product([False, True], repeat=COUNT):
        mask = torch.tensor(bits).expand(ROWS, COUNT)
        chance = torch.where(mask, policy, 1 - policy)
        for j in range(COUNT):
            others = chance[:, [i for i in range(COUNT) if i != j]].prod(1)
            sign = -1 if bits[j] else 1
            gains[:, j] += sign * others * cost(mask[None, None])[0]
    return gains


@pytest.mark.parametrize("at_once", [1, 3, 4, 9])
def test_gains_are_those_of_enumeration(at_once):
    estimator = MarginalGains(draws=400, floor=0.1, temperature=0.7, features_per_mask=at_once)
    copies = 50  # of the same rows: as good as more draws, and faster
    found = estimator(Bernoulli(LOGITS.repeat(copies, 1)), cost).reshape(copies, ROWS, COUNT).mean(0)
    needed = enumerated(estimator.policy(Bernoulli(LOGITS)))
    assert torch.allclose(found, needed, atol=0.01)
    assert needed.abs().max() > 0.1  # there is something to find


def test_the_policy_explores_whatever_the_logits():
    policy = MarginalGains(floor=0.05).policy(Bernoulli(torch.tensor([[-99.0, 0.0, 99.0]])))
    assert torch.allclose(policy, torch.tensor([[0.05, 0.5, 0.95]]))


def test_every_feature_is_tried_equally_often():
    for count, at_once in [(7, 3), (100, 32), (5, 5)]:
        turns = MarginalGains(draws=6, features_per_mask=at_once)._turns(torch.arange(count))
        times = torch.bincount(torch.cat(turns), minlength=count)
        assert all(len(turn) == len(turn.unique()) <= at_once for turn in turns)
        assert times.min() >= 5
        assert times.max() <= 8


def test_some_features_may_be_measured_alone():
    few = MarginalGains(draws=200)(Bernoulli(LOGITS), cost, among=torch.tensor([0, 2]))
    every = MarginalGains(draws=200)(Bernoulli(LOGITS), cost)
    assert (few[:, [1, *range(3, COUNT)]] == 0).all()
    assert torch.allclose(few[:, [0, 2]], every[:, [0, 2]], atol=0.3)


def test_padding_is_worth_nothing():
    valid = torch.ones(ROWS, COUNT).bool()
    valid[0, 2:] = False
    gains = MarginalGains(draws=8)(Bernoulli(LOGITS, valid), cost)
    assert not gains[~valid].any()
    assert gains[valid].all()
