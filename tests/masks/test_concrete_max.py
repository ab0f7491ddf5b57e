from itertools import product

import torch

from lexplain.masks import ConcreteMax

LOGITS = torch.tensor([[0.3, -0.7, 1.1, 0.0]])
K = 3


def test_soft_masks_lie_inside_and_sum_to_k_at_the_most():
    soft = ConcreteMax(LOGITS, K, temperature=0.5).relaxed((20_000,))
    assert soft.min() > 0
    assert soft.max() <= 1
    assert soft.sum(-1).max() <= K + 1e-5
    assert soft.sum(-1).min() >= 1 - 1e-5  # the largest of several is no less than any one of them
    one = ConcreteMax(LOGITS, 1, temperature=0.5).relaxed((100,))
    assert torch.allclose(one.sum(-1), torch.ones(100, 1))


def test_hard_masks_are_the_winners_of_k_draws():
    n = 100_000
    masks = ConcreteMax(LOGITS, K).sample((n,))[:, 0]
    assert masks.sum(-1).min() >= 1
    assert masks.sum(-1).max() <= K
    share = LOGITS[0].softmax(-1)
    chance: dict[tuple[bool, ...], float] = {}
    for winners in product(range(4), repeat=K):  # every outcome of k draws with replacement
        mask = tuple(j in winners for j in range(4))
        chance[mask] = chance.get(mask, 0.0) + float(share[list(winners)].prod())
    for mask, expected in chance.items():
        got = (masks == torch.tensor(mask)).all(-1).float().mean()
        assert abs(float(got) - expected) < 5 * (expected * (1 - expected) / n) ** 0.5


def test_importance_is_the_chance_of_winning_a_draw():
    p = ConcreteMax(LOGITS, K)
    share = p.sample((100_000,)).float().mean(0)
    assert ((share - p.mean).abs() < 5 * (p.mean * (1 - p.mean) / 100_000).sqrt()).all()


def test_cold_soft_masks_are_hard_ones():
    soft = ConcreteMax(LOGITS, K, temperature=0.01).relaxed((5000,))
    assert ((soft < 0.01) | (soft > 0.99)).float().mean() > 0.97
    share = (soft > 0.5).float().mean(0)
    assert ((share - ConcreteMax(LOGITS, K).mean).abs() < 0.03).all()


def test_has_no_law_to_be_scored():
    p = ConcreteMax(LOGITS, K)
    assert not any(hasattr(p, capability) for capability in ("log_prob", "draw", "coupled", "antithetic"))
