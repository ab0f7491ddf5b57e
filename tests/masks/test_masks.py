"""What every mask distribution promises; a new one is one more line in MASKS or FIXED."""

import math
from functools import partial

import pytest
import torch

from lexplain.masks import Bernoulli, ConcreteMax, FixedRate, ShapleyKernel, TopK, UniformRate, top_k_mask

ROWS, COUNT, K = 4, 6, 2
MASKS = {
    "bernoulli": Bernoulli,
    "bernoulli that shows k": partial(Bernoulli, k=K),
    "top k": partial(TopK, k=K),
    "concrete max": partial(ConcreteMax, k=K),
}
FIXED = {"coins": FixedRate, "rare coins": partial(FixedRate, rate=0.1), "uniform rate": UniformRate, "shapley kernel": ShapleyKernel}
SHAPES = [(), (5,), (2, 3)]
SOME = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1], [1, 0, 0, 0, 0, 0]]).bool()  # the last has fewer than k


def built(name, logits=None, valid=None):
    return MASKS[name](torch.randn(ROWS, COUNT) if logits is None else logits, valid=valid)


def hard_draws(p, shape):
    """All hard masks that a distribution can draw, by the name of the method."""
    draws = {"sample": p.sample(shape)}
    if hasattr(p, "draw"):
        draws["draw"] = p.draw(shape)[0]
    if hasattr(p, "paired"):
        draws["paired"] = p.paired(shape)[0]
    if hasattr(p, "coupled"):
        draws["coupled"] = p.coupled(shape).hard
    if hasattr(p, "antithetic"):
        draws["one"], draws["two"], _ = p.antithetic(shape)
    return draws


def soft_draws(p, shape):
    draws = {"relaxed": p.relaxed(shape)}
    if hasattr(p, "paired"):
        draws["paired"] = p.paired(shape)[1]
    if hasattr(p, "coupled"):
        draws["coupled"], draws["given"] = p.coupled(shape)[1:3]
    return draws


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("valid", [None, SOME], ids=["all valid", "padded"])
@pytest.mark.parametrize("name", MASKS)
def test_draws_have_their_shape_and_kind(name, valid, shape):
    p = built(name, valid=valid)
    for how, mask in hard_draws(p, shape).items():
        assert mask.shape == (*shape, ROWS, COUNT), how
        assert mask.dtype == torch.bool, how
    for how, mask in soft_draws(p, shape).items():
        assert mask.shape == (*shape, ROWS, COUNT), how
        assert mask.dtype == torch.float32, how
    if hasattr(p, "draw"):
        assert p.draw(shape)[1].shape == (*shape, ROWS)
    if hasattr(p, "coupled"):
        assert p.coupled(shape).log_prob.shape == (*shape, ROWS)
    if hasattr(p, "antithetic"):
        assert p.antithetic(shape)[2].shape == (*shape, ROWS, COUNT)
    assert p.mean.shape == p.mode.shape == (ROWS, COUNT)
    assert p.mode.dtype == torch.bool


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("name", MASKS)
def test_soft_masks_lie_between_off_and_on(name, k, temperature):
    family = MASKS[name].func if isinstance(MASKS[name], partial) else MASKS[name]
    p = family(2 * torch.randn(ROWS, COUNT), k=k, temperature=temperature)
    for how, mask in soft_draws(p, (500,)).items():
        assert mask.min() >= 0, how
        assert mask.max() <= 1 + 1e-5, f"{how} reaches {mask.max():.3f}: a soft mask lies in [0, 1]"


@pytest.mark.parametrize("name", MASKS)
def test_soft_masks_lie_between_off_and_on_where_fewer_than_k_are_valid(name):
    for how, mask in soft_draws(built(name, valid=SOME), (50,)).items():
        assert mask.min() >= 0, how
        assert mask.max() <= 1 + 1e-5, f"{how} reaches {mask.max():.3f} in a row of one valid feature and k = {K}"


@pytest.mark.parametrize("name", MASKS)
def test_padding_is_never_selected(name):
    logits = torch.randn(ROWS, COUNT).masked_fill(~SOME, 30.0)  # padding that would win
    p = built(name, logits, SOME)
    for how, mask in {**hard_draws(p, (200,)), **soft_draws(p, (200,)), "mean": p.mean, "mode": p.mode, "scores": p.scores}.items():
        assert not mask[..., ~SOME].any(), how
    if hasattr(p, "antithetic"):
        assert not p.antithetic((50,))[2][..., ~SOME].any()
    assert p.sample((200,))[..., SOME].any(0).all()  # while every valid one can be


@pytest.mark.parametrize("name", MASKS)
def test_padding_changes_nothing_for_the_rest(name):
    logits = torch.randn(ROWS, COUNT)
    padded = torch.cat([logits, torch.full((ROWS, 3), 9.0)], 1)
    valid = torch.ones(ROWS, COUNT + 3).bool()
    valid[:, COUNT:] = False
    plain, more = built(name, logits), built(name, padded, valid)
    assert torch.allclose(plain.mean, more.mean[:, :COUNT])
    assert torch.allclose(plain.scores, more.scores[:, :COUNT])
    assert torch.equal(plain.mode, more.mode[:, :COUNT])
    if hasattr(plain, "log_prob"):
        mask = plain.sample((20,))
        assert torch.allclose(plain.log_prob(mask), more.log_prob(torch.cat([mask, torch.zeros(20, ROWS, 3).bool()], -1)), atol=1e-5)


@pytest.mark.parametrize("name", [n for n in MASKS if n != "bernoulli"])
@pytest.mark.parametrize(
    "scores", [torch.zeros(ROWS, COUNT), torch.tensor([[0.0, 1, 1, 1, -1, -1]]).expand(ROWS, -1)], ids=["all tied", "some tied"]
)
def test_the_mask_to_show_has_exactly_k_even_with_ties(name, scores):
    assert (built(name, scores).mode.sum(-1) == K).all()
    assert (built(name, scores, SOME).mode.sum(-1) == torch.tensor([2, 2, 2, 1])).all()
    strict = torch.arange(COUNT * 1.0).expand(ROWS, -1)
    assert torch.equal(built(name, strict).mode, strict >= COUNT - K)


@pytest.mark.parametrize("name", [n for n in MASKS if n != "bernoulli"])
def test_k_above_what_is_valid_means_all_of_it(name):
    family = MASKS[name].func
    assert torch.equal(family(torch.randn(ROWS, COUNT), k=5, valid=SOME).mode[1:], SOME[1:])
    assert family(torch.randn(ROWS, COUNT), k=COUNT + 3).mode.all()


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("name", [n for n in MASKS if not n.startswith("bernoulli")])  # whose coins may all fall on one side
def test_rows_of_no_more_than_k_valid_features_have_all_of_them_on(name, k):
    logits = torch.randn(ROWS, COUNT, requires_grad=True)
    p = MASKS[name].func(logits, k=k, valid=SOME)
    few = SOME.sum(1) <= k
    draws = {**hard_draws(p, (20,)), **soft_draws(p, (20,)), "mean": p.mean[None], "mode": p.mode[None]}
    for how, mask in draws.items():
        assert torch.equal(mask[:, few].bool(), SOME[few].expand(len(mask), -1, -1)), how
        assert (mask[:, few][..., SOME[few]] == 1).all(), how
        if mask.requires_grad:
            (slope,) = torch.autograd.grad((mask * torch.randn_like(mask)).sum(), logits, retain_graph=True)
            assert slope.isfinite().all(), how
            assert not slope[few].any(), how
            assert not slope[~SOME].any(), how


@pytest.mark.parametrize("name", MASKS)
def test_a_row_without_any_feature_is_empty(name):
    valid = SOME.clone()
    valid[2] = False
    logits = torch.randn(ROWS, COUNT, requires_grad=True)
    p = built(name, logits, valid)
    for how, mask in {**hard_draws(p, (20,)), **soft_draws(p, (20,)), "mean": p.mean, "mode": p.mode, "scores": p.scores}.items():
        assert not mask[..., 2, :].any(), how
        if mask.requires_grad:
            assert torch.autograd.grad(mask.sum(), logits, retain_graph=True)[0].isfinite().all(), how


@pytest.mark.parametrize("name", MASKS)
def test_no_row_depends_on_the_padding_of_those_beside_it(name):
    logits = torch.randn(ROWS, COUNT)
    p, alone = built(name, logits, SOME), built(name, logits[:1], SOME[:1])
    for one, other in ((p.mean, alone.mean), (p.scores, alone.scores)):
        assert torch.allclose(one[:1], other, atol=1e-6)
    assert torch.equal(p.mode[:1], alone.mode)


@pytest.mark.parametrize("name", MASKS)
def test_importance_rises_with_the_score(name):
    logits = torch.linspace(-6, 6, COUNT)[torch.randperm(COUNT)].expand(ROWS, -1)
    mean = built(name, logits).mean
    order = logits[0].argsort()
    assert (mean[:, order].diff(dim=-1) > 0).all()
    assert (mean >= 0).all()
    assert (mean <= 1).all()
    raised = built(name, logits + torch.eye(COUNT)[0]).mean
    assert (raised[:, 0] > mean[:, 0]).all()


@pytest.mark.parametrize("name", MASKS)
def test_soft_masks_carry_gradients_and_hard_ones_do_not(name):
    logits = torch.randn(ROWS, COUNT, requires_grad=True)
    p = built(name, logits)
    for how, mask in hard_draws(p, (3,)).items():
        assert not mask.requires_grad, how
    for how, mask in soft_draws(p, (3,)).items():
        (slope,) = torch.autograd.grad((mask**2).sum(), logits)
        assert slope.abs().sum() > 0, how


@pytest.mark.parametrize("name", [n for n in MASKS if "concrete" not in n])
def test_a_pair_is_of_one_noise(name):
    hard, soft = built(name).paired((2000,))
    assert (soft[hard].min() if name.startswith("bern") else soft[hard].mean()) > 0.5
    assert (soft[~hard].max() if name.startswith("bern") else soft[~hard].mean()) < 0.5
    assert torch.equal(hard.sum(-1), top(soft, hard).sum(-1))
    assert (hard == top(soft, hard)).all()  # the highest of the soft mask are the hard one


def top(soft, hard):
    """The highest of a soft mask, as many as are on in the hard one."""
    rank = soft.argsort(dim=-1, descending=True).argsort(dim=-1)
    return rank < hard.sum(-1, keepdim=True)


@pytest.mark.parametrize("name", MASKS)
def test_the_same_seed_gives_the_same_masks(name):
    p = built(name)
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append((p.sample((20,)), p.relaxed((20,))))
    assert torch.equal(draws[0][0], draws[1][0])
    assert torch.equal(draws[0][1], draws[1][1])
    assert not torch.equal(draws[0][0], draws[2][0])


@pytest.mark.parametrize("valid", [None, SOME], ids=["all valid", "padded"])
@pytest.mark.parametrize("temperature", [0.1, 0.5])
@pytest.mark.parametrize("name", MASKS)
def test_extreme_scores_give_finite_numbers(name, temperature, valid):
    rows = torch.tensor([[50.0, -50, 50, -50, 0, 0], [50, 50, 50, 50, 50, 50], [-50, -50, -50, -50, -50, -50], [-50, -50, -50, 0, -50, 50]])
    logits = rows.requires_grad_()
    p = MASKS[name](logits, valid=valid, temperature=temperature)
    values = {**soft_draws(p, (300,)), "mean": p.mean}
    if hasattr(p, "draw"):
        values["draw"] = p.draw((300,))[1]
    if hasattr(p, "coupled"):
        values["coupled log_prob"] = p.coupled((300,)).log_prob
    if hasattr(p, "log_prob"):
        values["log_prob"] = p.log_prob(p.sample((300,)))
    if hasattr(p, "antithetic"):
        values["antithetic"] = p.antithetic((300,))[2] * p.logits
    for how, value in values.items():
        assert value.isfinite().all(), how
        (slope,) = torch.autograd.grad((value * torch.randn_like(value)).sum(), logits, retain_graph=True)
        assert slope.isfinite().all(), f"gradient of {how}"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FIXED)
def test_fixed_masks_have_their_shape_and_respect_padding(name, shape):
    mask = FIXED[name](ROWS, COUNT).sample(shape)
    assert mask.shape == (*shape, ROWS, COUNT)
    assert mask.dtype == torch.bool
    padded = FIXED[name](ROWS, COUNT, valid=SOME)
    assert padded.sample(shape).shape == (*shape, ROWS, COUNT)
    many = padded.sample((400,))
    assert not many[..., ~SOME].any()
    could = SOME.clone()
    could[3] &= "shapley" not in name  # one player has no proper subset but the empty one
    assert torch.equal(many.any(0), could)
    nothing = FIXED[name](ROWS, COUNT, valid=torch.zeros(ROWS, COUNT).bool()).sample(shape)
    assert nothing.shape == (*shape, ROWS, COUNT)
    assert not nothing.any()


@pytest.mark.parametrize("spread", [0.1, 5.0])
@pytest.mark.parametrize("count", [5, 100])  # short rows and long ones go different ways
@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("name", MASKS)
def test_scores_are_above_one_half_where_a_feature_is_kept_and_ordered_as_the_logits(name, k, count, spread):
    family = MASKS[name].func if isinstance(MASKS[name], partial) else MASKS[name]
    logits = spread * torch.randn(20, count)
    p = family(logits, k=k)
    assert (p.scores[p.mode] > 0.5).all()
    assert (p.scores[~p.mode] < 0.5).all()
    assert ((p.scores >= 0) & (p.scores <= 1)).all()
    order = logits.argsort(dim=-1)
    assert (p.scores.gather(-1, order).diff(dim=-1) >= 0).all()


@pytest.mark.parametrize("kind", [TopK, ConcreteMax, Bernoulli])
def test_scores_are_the_distance_to_the_edge_squeezed(kind):
    logits = torch.tensor([[2.5, 0.5, -1.5, 0.0, -3.5]])  # three are kept: the edge lies at -0.75
    expected = [0.5 + math.atan(z + 0.75) / math.pi for z in logits[0].tolist()]
    assert kind(logits, k=3).scores[0].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [TopK, ConcreteMax, Bernoulli])
def test_equals_at_the_edge_are_told_apart_and_those_far_above_it_keep_their_order(kind, dtype):
    flat = kind(torch.zeros(1, 5, dtype=dtype), k=2)
    assert torch.equal(flat.scores > 0.5, flat.mode)
    assert torch.equal(flat.scores < 0.5, ~flat.mode)
    steep = kind(torch.tensor([[90.0, 60.0, 40.0, 0.0, -80.0]], dtype=dtype), k=3)
    assert (steep.scores[0].diff() < 0).all()


@pytest.mark.parametrize("kind", [TopK, ConcreteMax, Bernoulli])
def test_scores_keep_their_order_where_nothing_is_left_out(kind):
    scores = kind(torch.tensor([[3.0, 1.0, 2.0]]), k=3).scores
    assert torch.allclose(scores, 0.5 + torch.tensor([[3.0, 1.0, 2.0]]).atan() / math.pi)  # a level of 0, one below the lowest


@pytest.mark.parametrize("count", [5, 500])  # short rows and long ones go different ways
@pytest.mark.parametrize("kind", [TopK, ConcreteMax])
def test_the_mean_is_the_chance_to_win_one_of_k_draws(kind, count):
    logits = torch.randn(3, count)
    weights = logits.exp()
    expected = 1 - (1 - weights / weights.sum(1, keepdim=True)) ** K
    assert torch.allclose(kind(logits, K).mean, expected, atol=1e-6)


@pytest.mark.parametrize("values", [3, 10_000])  # many ties, and hardly any
@pytest.mark.parametrize("count", [5, 100])  # short rows and long ones go different ways
@pytest.mark.parametrize("k", [1, 4, 5])
def test_the_best_k_are_those_of_a_stable_sort(values, count, k):
    scores = torch.randint(values, (20, count)).float()
    order = sorted(range(count), key=lambda at: (-scores[0, at].item(), at))
    mask = top_k_mask(scores, k)
    assert mask[0].nonzero().flatten().tolist() == sorted(order[:k])
    assert (mask.sum(1) == k).all()
