from itertools import combinations, permutations
from math import exp, log

import pytest
import torch
from hypothesis import given, settings, strategies as st
from scipy.stats import ks_2samp

from lexplain.masks import TopK, relaxed_top_k, successive_top_k, top_k_mask
from lexplain.masks.top_k import threshold_top_k

LOGITS = torch.tensor([[0.3, -0.7, 1.1, -2.0, 0.5]])
K = 2


def chance_of_order(logits, order):
    """Plackett-Luce by hand: each draw takes its share of the weights that are left."""
    left, chance = [exp(a) for a in logits], 1.0
    for j in order:
        chance *= left[j] / sum(left)
        left[j] = 0.0
    return chance


def sets(count, k):
    return torch.stack([torch.zeros(count).bool().index_fill(0, torch.tensor(members), True) for members in combinations(range(count), k)])


def chance_of_set(logits, mask):
    members = mask.nonzero()[:, 0].tolist()
    return sum(chance_of_order(logits, order) for order in permutations(members))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_law_of_orders_is_plackett_luce(k):
    p, logits = TopK(LOGITS, k), LOGITS[0].tolist()
    for order in permutations(range(5), k):
        whole = torch.tensor([[*order, *(j for j in range(5) if j not in order)]])
        assert p.order_log_prob(whole).item() == pytest.approx(log(chance_of_order(logits, order)), abs=1e-5)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_law_of_sets_sums_over_orders_and_to_one(k):
    masks = sets(5, k)
    chance = TopK(LOGITS, k).log_prob(masks[:, None]).exp()[:, 0]
    assert chance.tolist() == pytest.approx([chance_of_set(LOGITS[0].tolist(), mask) for mask in masks], rel=1e-4)
    assert float(chance.sum()) == pytest.approx(1, abs=1e-5)


def test_the_law_of_sets_with_padding_is_that_without_it():
    padded = torch.cat([LOGITS[:, :3], torch.full((1, 2), 5.0)], 1)
    valid = torch.tensor([[True, True, True, False, False]])
    for mask in sets(3, K):
        longer = torch.cat([mask, torch.zeros(2).bool()])
        assert TopK(padded, K, valid).log_prob(longer[None]).exp().item() == pytest.approx(
            chance_of_set(LOGITS[0, :3].tolist(), mask), rel=1e-4
        )


def test_all_valid_features_are_certain_where_fewer_than_k_are_valid():
    valid = torch.tensor([[True, True, False, False, False]])
    p = TopK(LOGITS, 3, valid)
    assert torch.equal(p.sample((50,)), valid.expand(50, 1, 5))
    assert p.log_prob(valid).item() == pytest.approx(0, abs=1e-5)
    orders = p.draw((2000,))[1].exp()  # the two orders of the two valid ones
    first = chance_of_order(LOGITS[0, :2].tolist(), (0, 1))
    assert torch.allclose(torch.minimum((orders - first).abs(), (orders - 1 + first).abs()), torch.zeros_like(orders), atol=1e-5)


@pytest.mark.parametrize("how", ["sample", "draw", "paired", "coupled"])
def test_sets_are_drawn_as_often_as_log_prob_says(how):
    p, n = TopK(LOGITS, K), 100_000
    draws = {
        "sample": lambda: p.sample((n,)),
        "draw": lambda: p.draw((n,))[0],
        "paired": lambda: p.paired((n,))[0],
        "coupled": lambda: p.coupled((n,)).hard,
    }[how]()[:, 0]
    assert (draws.sum(-1) == K).all()
    masks = sets(5, K)
    chance = p.log_prob(masks[:, None]).exp()[:, 0]
    share = (draws[:, None] == masks).all(-1).float().mean(0)
    assert ((share - chance).abs() < 5 * (chance * (1 - chance) / n).sqrt()).all()


@pytest.mark.parametrize("how", ["draw", "coupled"])
def test_the_log_prob_of_a_draw_is_that_of_one_order_of_its_set(how):
    p = TopK(LOGITS, K)
    draw = p.draw((3000,)) if how == "draw" else p.coupled((3000,))
    mask, log_prob = draw[0], draw[-1]
    for members in combinations(range(5), K):
        mine = (mask[:, 0] == torch.zeros(5).bool().index_fill(0, torch.tensor(members), True)).all(-1)
        orders = torch.tensor([chance_of_order(LOGITS[0].tolist(), order) for order in permutations(members)])
        seen = log_prob[mine, 0].exp()
        assert mine.any()
        assert ((seen[:, None] - orders).abs().min(1).values < 1e-5).all()
    # The mean of 1 / chance counts the orders, 5 x 4: so every order comes as often as it should.
    weights = 1 / p.draw((200_000,))[1].exp()
    assert (weights.mean() - 20).abs() < 5 * weights.std() / 200_000**0.5


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_the_relaxation_given_the_order_has_its_mask_and_its_law(temperature):
    draw = TopK(LOGITS, K, temperature=temperature).coupled((40_000,))
    assert torch.equal(top_k_mask(draw.soft, K), draw.hard)
    assert torch.equal(top_k_mask(draw.soft_given_hard, K), draw.hard)
    soft, given = draw.soft[:, 0], draw.soft_given_hard[:, 0]
    for j in range(5):
        assert ks_2samp(soft[:, j].numpy(), given[:, j].numpy()).pvalue > 1e-4
    for i, j in combinations(range(5), 2):  # and jointly
        assert ks_2samp((soft[:, i] * soft[:, j]).numpy(), (given[:, i] * given[:, j]).numpy()).pvalue > 1e-4
    assert ((soft - given).abs() > 1e-3).float().mean() > 0.5  # of fresh noise


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8), st.integers(1, 8), st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 1000))
def test_a_relaxed_mask_sums_to_k(count, k, temperature, seed):
    torch.manual_seed(seed)
    k = min(k, count)
    soft = relaxed_top_k(3 * torch.randn(20, count), k, temperature)
    assert torch.allclose(soft.sum(-1), torch.full((20,), float(k)), atol=1e-4)


@st.composite
def padded_rows(draw):
    """Rows of different numbers of valid features, which may lie anywhere, and any k up to the width."""
    count = draw(st.integers(1, 40))
    sizes = draw(st.lists(st.integers(0, count), min_size=1, max_size=6))
    noise = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    valid = torch.stack([torch.randperm(count, generator=noise) < size for size in sizes])
    scores = draw(st.sampled_from([0.0, 1.0, 8.0])) * torch.randn(len(sizes), count, generator=noise)
    padding = draw(st.sampled_from([-1e9, 0.0, 50.0]))
    return torch.where(valid, scores, padding), valid, draw(st.integers(1, count))


SOFT = {"relaxed": relaxed_top_k, "successive": successive_top_k, "threshold": threshold_top_k}


@settings(deadline=None, max_examples=150)
@given(padded_rows(), st.sampled_from([0.05, 0.1, 0.5, 1.0, 3.0]))
def test_a_relaxed_mask_sums_to_k_of_the_valid_whatever_is_padded(rows, temperature):
    perturbed, valid, k = rows
    soft = relaxed_top_k(perturbed, k, temperature, valid)
    assert torch.allclose(soft.sum(-1), valid.sum(-1).clamp_max(k).float(), atol=1e-3)
    drawn = TopK(perturbed, k, valid, temperature=temperature)
    for mask in (drawn.relaxed((3,)), *drawn.coupled((3,))[1:3]):
        assert torch.allclose(mask.sum(-1), valid.sum(-1).clamp_max(k).float().expand(3, -1), atol=1e-3)


@settings(deadline=None, max_examples=100)
@given(padded_rows(), st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from(sorted(SOFT)))
def test_padding_gets_nothing_and_all_are_on_where_few_are_valid(rows, temperature, how):
    perturbed, valid, k = rows
    perturbed.requires_grad_()
    soft = SOFT[how](perturbed, k, temperature, valid)
    assert ((soft >= 0) & (soft <= 1)).all()
    assert not soft[~valid].any()
    few = valid.sum(-1) <= k
    assert torch.equal(soft[few], valid[few].float())
    (slope,) = torch.autograd.grad((soft * torch.randn_like(soft)).sum(), perturbed)
    assert slope.isfinite().all()
    assert not slope[~valid].any()
    assert not slope[few].any()  # what is on whatever the scores are teaches nothing


@settings(deadline=None, max_examples=100)
@given(padded_rows(), st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from(sorted(SOFT)))
def test_a_padded_row_is_as_soft_as_it_would_be_alone(rows, temperature, how):
    perturbed, valid, k = rows
    perturbed = perturbed.double()  # what is left of a row after its first score may be one rounding error of floats
    soft = SOFT[how](perturbed, k, temperature, valid)
    for row, there, found in zip(perturbed, valid, soft, strict=True):
        if int(there.sum()) > k:
            alone = SOFT[how](row[there][None], k, temperature)[0]
            assert torch.allclose(found[there], alone, atol=1e-4)


@pytest.mark.parametrize(
    "scores", [[5.0, 4, 3, 2, 1, 0], [9.0, 8, 3, -5, -6, -7], [2.0, 1.9, -8, -9, -9, -9], [20.0, 3, 2, 1, -30, -40]], ids=str
)
def test_a_cold_relaxed_mask_is_the_hard_one(scores):
    perturbed = torch.tensor([scores])
    hard = top_k_mask(perturbed, 3).float()
    assert torch.allclose(relaxed_top_k(perturbed, 3, 0.02), hard, atol=0.02)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(-2, 2), min_size=1, max_size=12), st.integers(1, 12))
def test_ties_go_by_position(scores, k):
    order = sorted(range(len(scores)), key=lambda j: -scores[j])[:k]  # sorted is stable
    assert top_k_mask(torch.tensor([scores]).float(), k)[0].nonzero()[:, 0].tolist() == sorted(order)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=1, max_size=12), st.integers(1, 12))
def test_keeps_the_k_highest_of_the_valid(pairs, k):
    scores, valid = (list(part) for part in zip(*pairs, strict=True))
    mask = top_k_mask(torch.tensor([scores]).float(), k, torch.tensor([valid]))[0].tolist()
    kept, left = (
        [s for s, m in zip(scores, mask, strict=True) if m],
        [s for s, m, v in zip(scores, mask, valid, strict=True) if v and not m],
    )
    assert len(kept) == min(k, sum(valid))
    assert not any(m and not v for m, v in zip(mask, valid, strict=True))
    assert not left or not kept or min(kept) >= max(left)


def test_refuses_to_sum_too_many_orders():
    with pytest.raises(ValueError, match="`draw`"):
        TopK(torch.zeros(1, 20), 10).log_prob(torch.ones(1, 20).bool())


def test_sigmoids_about_the_kth_score_are_near_the_projection():
    torch.manual_seed(0)
    scores = torch.randn(50, 400, dtype=torch.double, requires_grad=True)
    quick, exact = threshold_top_k(scores, 40, 0.1), relaxed_top_k(scores, 40, 0.1)
    assert (quick - exact).abs().max() < 0.2
    assert quick.sum(-1).tolist() == pytest.approx([40] * 50, abs=6)
    hard = top_k_mask(scores.detach(), 40)
    assert torch.equal(quick > 0.5, hard)
    weight = torch.randn_like(quick)
    (slope,) = torch.autograd.grad((quick * weight).sum(), scores)
    assert slope.sum(-1).abs().max() < 1e-9  # adding a constant to all scores changes nothing
    (true,) = torch.autograd.grad((exact * weight).sum(), scores)
    assert torch.nn.functional.cosine_similarity(slope.flatten(), true.flatten(), dim=0) > 0.97


def test_large_sets_carry_gradients_too():
    logits = torch.zeros(2, 100, requires_grad=True)
    hard, soft = TopK(logits, 50).paired((3,))
    assert hard.sum(-1).eq(50).all()
    (soft * torch.randn_like(soft)).sum().backward()
    assert logits.grad.abs().sum() > 0
    assert torch.equal(threshold_top_k(torch.randn(2, 5), 5, 0.5), torch.ones(2, 5))
