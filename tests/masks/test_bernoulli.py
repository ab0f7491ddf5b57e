from itertools import product

import pytest
import torch
from scipy.stats import ks_2samp

from lexplain.masks import Bernoulli

LOGITS = torch.tensor([[0.3, -0.7, 1.1, -2.0], [0.0, 2.5, -0.1, 0.4]])
EVERY = torch.tensor(list(product([False, True], repeat=4)))  # (16, 4)


def of_row(masks, row):
    """How often each of the 16 masks was drawn in a row."""
    index = (masks[:, row].int() * torch.tensor([8, 4, 2, 1])).sum(-1)
    return torch.bincount(index, minlength=16) / len(masks)


def test_log_prob_is_the_product_of_the_coins():
    chance = Bernoulli(LOGITS).log_prob(EVERY[:, None].expand(-1, 2, -1)).exp()
    on = LOGITS.sigmoid()
    for m, mask in enumerate(EVERY.tolist()):
        for row in range(2):
            plain = 1.0
            for j, kept in enumerate(mask):
                plain *= float(on[row, j]) if kept else 1 - float(on[row, j])
            assert chance[m, row] == pytest.approx(plain, rel=1e-5)
    assert torch.allclose(chance.sum(0), torch.ones(2))


def test_log_prob_of_valid_masks_sums_to_one():
    valid = torch.tensor([[True, True, False, True]]).expand(2, -1)
    possible = EVERY[~EVERY[:, 2]]
    chance = Bernoulli(LOGITS, valid).log_prob(possible[:, None].expand(-1, 2, -1)).exp()
    assert torch.allclose(chance.sum(0), torch.ones(2))


@pytest.mark.parametrize("how", ["sample", "draw", "paired", "coupled", "one", "two"])
def test_masks_are_drawn_as_often_as_log_prob_says(how):
    p, n = Bernoulli(LOGITS), 100_000
    draws = {
        "sample": lambda: p.sample((n,)),
        "draw": lambda: p.draw((n,))[0],
        "paired": lambda: p.paired((n,))[0],
        "coupled": lambda: p.coupled((n,)).hard,
        "one": lambda: p.antithetic((n,))[0],
        "two": lambda: p.antithetic((n,))[1],
    }[how]()
    chance = p.log_prob(EVERY[:, None].expand(-1, 2, -1)).exp()
    for row in range(2):
        error = (chance[:, row] * (1 - chance[:, row]) / n).sqrt()
        assert ((of_row(draws, row) - chance[:, row]).abs() < 5 * error).all()


def test_draw_and_coupled_give_the_log_prob_of_their_masks():
    p = Bernoulli(LOGITS)
    mask, log_prob = p.draw((7, 3))
    assert torch.allclose(log_prob, p.log_prob(mask))
    draw = p.coupled((7, 3))
    assert torch.allclose(draw.log_prob, p.log_prob(draw.hard))


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_the_relaxation_given_the_mask_has_its_mask_and_its_law(temperature):
    draw = Bernoulli(LOGITS, temperature=temperature).coupled((40_000,))
    assert torch.equal(draw.soft > 0.5, draw.hard)
    assert torch.equal(draw.soft_given_hard > 0.5, draw.hard)
    for row in range(2):
        for j in range(4):
            assert ks_2samp(draw.soft[:, row, j].numpy(), draw.soft_given_hard[:, row, j].numpy()).pvalue > 1e-4
    # Fresh noise: where the coin's face leaves room, the two relaxations differ.
    assert (draw.soft != draw.soft_given_hard).float().mean() > 0.5
    on = draw.hard[:, 0, 0]
    pair = torch.stack([draw.soft[on, 0, 0], draw.soft_given_hard[on, 0, 0]])
    assert pair.corrcoef()[0, 1].abs() < 0.05  # given the mask they are independent


def test_a_relaxation_without_noise_would_be_seen():
    # LEX draws no noise where a coin is off (methods.md 3.2): such a constant is not the law of the relaxation.
    draw = Bernoulli(LOGITS, temperature=1.0).coupled((40_000,))
    constant = torch.where(draw.hard, draw.soft_given_hard, torch.sigmoid(-torch.log1p(1 / (1 - LOGITS.sigmoid()))))
    assert ks_2samp(draw.soft[:, 0, 0].numpy(), constant[:, 0, 0].numpy()).pvalue < 1e-4


def test_mirrored_masks_differ_where_the_weight_is():
    one, two, weight = Bernoulli(LOGITS).antithetic((500,))
    assert torch.equal(weight != 0, one != two)
    assert (weight[one & ~two] > 0).all()
    assert (weight[two & ~one] < 0).all()
    assert torch.allclose(weight.abs(), torch.sigmoid(LOGITS.abs()) * (one != two))


def test_shows_what_is_more_likely_on_than_off():
    assert Bernoulli(LOGITS).mode.tolist() == [[True, False, True, False], [False, True, False, True]]
    assert torch.allclose(Bernoulli(LOGITS).mean, LOGITS.sigmoid())
    assert Bernoulli(LOGITS, k=1).mode.tolist() == [[False, False, True, False], [False, True, False, False]]
