"""Every estimator against the slow and obvious: write down all masks, weigh their costs, differentiate."""

from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations, product

import pytest
import torch

from estimators.enumeration import Enumeration
from lexplain.core.contracts import CoupledSample
from lexplain.estimators import Disarm, Pathwise, Rebar, Reinforce, StraightThrough
from lexplain.masks import Bernoulli, TopK

ROWS = 100_000  # of the same logits: each is one draw of the gradient
FARTHEST = 5.0  # standard errors
LOGITS = {3: torch.tensor([0.4, -0.8, 1.2]), 4: torch.tensor([0.2, -0.4, 0.9, -1.3]), 5: torch.tensor([0.5, -0.2, 1.0, -0.7, 0.1])}
WEIGHTS = torch.tensor([1.0, -0.6, 0.8, 1.4, -0.9])


def cost(masks):
    """Bent, so that soft masks cost something else than hard ones: (M, L, b, d) to (M, b)."""
    mask = masks.float()
    total = (mask * WEIGHTS[: mask.shape[-1]]).sum(-1)
    each = (total - 0.5) ** 2 + 1.5 * mask[..., 0] * mask[..., 1] * (1 - mask[..., 2]) + 0.5 * torch.sin(3 * total)
    return each.mean(1)


def joint_cost(masks):
    """Minus the log of a probability averaged over the L masks, as in the IWAE bound."""
    mask = masks.float()
    total = (mask * WEIGHTS[: mask.shape[-1]]).sum(-1)
    chance = torch.sigmoid(2 * total - 1.5 * mask[..., 0] * mask[..., 2] - 1)  # (M, L, b)
    return -chance.mean(1).log()


# ---- the laws, written out ----


def law_of_coins(logits):
    """Each mask and its probability, from the definition."""
    on = torch.sigmoid(logits)
    for mask in product([0, 1], repeat=len(logits)):
        yield torch.tensor(mask).bool(), torch.stack([on[j] if kept else 1 - on[j] for j, kept in enumerate(mask)]).prod()


def law_of_sets(k, logits):
    """Each set of k and its probability: the sum over the orders in which it can be drawn."""
    weights = logits.exp()
    for members in combinations(range(len(logits)), k):
        chance = torch.zeros(())
        for order in permutations(members):
            left, one = weights.sum(), torch.ones(())
            for j in order:
                one, left = one * weights[j] / left, left - weights[j]
            chance = chance + one
        yield torch.zeros(len(logits)).bool().index_fill(0, torch.tensor(members), True), chance


def exact_gradient(law, logits, cost, group=1):
    """Differentiate the expected cost, summed over all tuples of masks."""
    leaf = logits.clone().requires_grad_()
    total = torch.zeros(())
    for draws in product(list(law(leaf)), repeat=group):
        masks = torch.stack([mask for mask, _ in draws])[None, :, None]  # (1, L, 1, d)
        total = total + torch.stack([chance for _, chance in draws]).prod() * cost(masks)[0, 0]
    return torch.autograd.grad(total, leaf)[0]


@dataclass(frozen=True)
class Family:
    build: object
    law: object
    logits: torch.Tensor


COINS = {d: Family(partial(Bernoulli, temperature=0.5), law_of_coins, LOGITS[d]) for d in LOGITS}
SETS = {(d, k): Family(partial(TopK, k=k, temperature=0.5), partial(law_of_sets, k), LOGITS[d]) for d, k in [(3, 1), (4, 2), (5, 3)]}
FAMILIES = {**{f"coins of {d}": f for d, f in COINS.items()}, **{f"{k} of {d}": f for (d, k), f in SETS.items()}}


# ---- the check ----


def gradients(estimator, family, cost, *, baseline=None, group=1, rows=ROWS, seed=0):
    """The gradient that each of many equal rows gives: (rows, d)."""
    torch.manual_seed(seed)
    logits = family.logits.repeat(rows, 1).requires_grad_()
    value = None if baseline is None else torch.full((rows,), baseline)
    loss = estimator(family.build(logits), cost, value, group=group)
    return torch.autograd.grad(loss, logits)[0].double() * rows


def assert_unbiased(estimator, family, cost, *, baseline=None, group=1):
    got = gradients(estimator, family, cost, baseline=baseline, group=group)
    exact = exact_gradient(family.law, family.logits, cost, group).double()
    error = got.std(0) / ROWS**0.5
    assert error.max() < 0.05 * exact.abs().max(), f"the noise {error} is too loud to hear a bias in {exact}"
    off = ((got.mean(0) - exact) / error).abs().max()
    assert off < FARTHEST, f"{off:.1f} standard errors from the truth: got {got.mean(0)}, needed {exact}, error {error}"


UNBIASED = {
    "reinforce, one sample": (Reinforce(samples=1), None),
    "reinforce, one sample and a baseline": (Reinforce(samples=1), 0.9),
    "reinforce, four samples": (Reinforce(samples=4), None),
    "rebar": (Rebar(), None),
}
UNBIASED_TOO = {
    "reinforce, four samples and a baseline": (Reinforce(samples=4), 0.9),
    "rebar, two samples": (Rebar(samples=2), None),
    "rebar of half the strength": (Rebar(strength=0.5), None),
}


@pytest.mark.parametrize("name", UNBIASED)
@pytest.mark.parametrize("family", FAMILIES)
def test_unbiased(family, name):
    estimator, baseline = UNBIASED[name]
    assert_unbiased(estimator, FAMILIES[family], cost, baseline=baseline)


@pytest.mark.parametrize("name", UNBIASED_TOO)
@pytest.mark.parametrize("family", [COINS[4], SETS[4, 2]], ids=["coins of 4", "2 of 4"])
def test_unbiased_in_other_settings(family, name):
    estimator, baseline = UNBIASED_TOO[name]
    assert_unbiased(estimator, family, cost, baseline=baseline)


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("d", COINS)
def test_mirrored_coins_are_unbiased(d, samples):
    assert_unbiased(Disarm(samples=samples), COINS[d], cost)


@pytest.mark.parametrize("family", FAMILIES)
def test_enumeration_is_exact(family):
    family = FAMILIES[family]
    logits = family.logits.repeat(2, 1).requires_grad_()
    loss = Enumeration()(family.build(logits), cost)
    expected = sum(chance * cost(mask[None, None, None])[0, 0] for mask, chance in family.law(family.logits))
    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
    (got,) = torch.autograd.grad(loss, logits)
    exact = exact_gradient(family.law, family.logits, cost)
    assert torch.allclose(2 * got, exact.expand(2, -1), atol=1e-4)


def test_enumeration_weighs_every_mask_of_coins_that_show_k():
    # `k` of a Bernoulli says which mask to show; its coins still fall every way.
    logits = LOGITS[4][None]
    assert Enumeration()(Bernoulli(logits, k=2), cost).item() == pytest.approx(Enumeration()(Bernoulli(logits), cost).item(), rel=1e-4)


@pytest.mark.parametrize("build", [Bernoulli, partial(TopK, k=2)], ids=["coins", "top k"])
def test_enumeration_leaves_padding_out(build):
    logits, valid = torch.cat([LOGITS[3], torch.tensor([2.0])])[None], torch.tensor([[True, True, True, False]])
    plain = Enumeration()(build(LOGITS[3][None]), cost).item()
    assert Enumeration()(build(logits, valid=valid), cost).item() == pytest.approx(plain, rel=1e-4)


def test_enumeration_refuses_what_it_cannot_list():
    with pytest.raises(ValueError, match="choose Reinforce or Rebar"):
        Enumeration()(Bernoulli(torch.zeros(1, 13)), cost)
    with pytest.raises(ValueError, match="groups of 2"):
        Enumeration()(Bernoulli(torch.zeros(1, 3)), cost, group=2)


JOINED = {"reinforce": Reinforce(samples=1), "reinforce, four samples": Reinforce(samples=4), "rebar": Rebar()}


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("family", [COINS[3], Family(partial(TopK, k=2), partial(law_of_sets, 2), LOGITS[3])], ids=["coins of 3", "2 of 3"])
def test_a_cost_that_joins_two_masks_is_unbiased(family, name):
    assert_unbiased(JOINED[name], family, joint_cost, group=2)


def test_a_cost_that_joins_two_masks_is_unbiased_for_mirrored_coins():
    assert_unbiased(Disarm(), COINS[3], joint_cost, group=2)


# ---- padding ----


@pytest.mark.parametrize(
    ("estimator", "build"),
    [
        (estimator, build)
        for estimator in (Reinforce(), Rebar(), Pathwise(), StraightThrough(), Disarm())
        for build in (Bernoulli, partial(TopK, k=2))
        if hasattr(build(torch.zeros(1, 4)), estimator.needs)
    ],
    ids=lambda part: type(part).__name__ if hasattr(part, "needs") else "coins" if part is Bernoulli else "top k",
)
def test_padding_gets_no_gradient(estimator, build):
    torch.manual_seed(0)
    logits = torch.randn(50, 5).requires_grad_()
    valid = torch.ones(50, 5).bool()
    valid[:, 3:] = False
    (slope,) = torch.autograd.grad(estimator(build(logits, valid=valid), cost), logits)
    assert not slope[:, 3:].any()
    assert slope[:, :3].abs().sum() > 0


@pytest.mark.parametrize("estimator", [Reinforce(samples=4), Rebar()], ids=["reinforce", "rebar"])
@pytest.mark.parametrize("build", [Bernoulli, partial(TopK, k=2)], ids=["coins", "top k"])
def test_unbiased_beside_padding(build, estimator):
    def padded(logits):
        valid = torch.ones(len(logits), 4).bool()
        valid[:, 3] = False
        return build(torch.cat([logits, torch.full((len(logits), 1), 2.0)], 1), valid=valid)

    law = law_of_coins if build is Bernoulli else partial(law_of_sets, 2)
    assert_unbiased(estimator, Family(padded, law, LOGITS[3]), lambda masks: cost(masks[..., :3]))


# ---- the check has power: it sees every bias we know of ----


class NoCorrection(Rebar):
    """REBAR that subtracts the control variate and forgets to add it back."""

    def __call__(self, p, cost, baseline=None, *, group=1):
        draw = p.coupled((self.samples, group))
        return ((cost(draw.hard) - cost(draw.soft_given_hard)).detach() * draw.log_prob.sum(1)).mean()


class SameNoise(Rebar):
    """REBAR whose second relaxation is the first one."""

    def __call__(self, p, cost, baseline=None, *, group=1):
        draw = p.coupled((self.samples, group))
        return ((cost(draw.hard) - cost(draw.soft)).detach() * draw.log_prob.sum(1)).mean()


class HardControl(Rebar):
    """LEX's REBAR_STE: a thresholded control variate with straight-through gradients, which is zero whenever it counts."""

    def __call__(self, p, cost, baseline=None, *, group=1):
        draw = p.coupled((self.samples, group))
        first, second = (cost(draw.hard + (soft - soft.detach())) for soft in (draw.soft, draw.soft_given_hard))
        return ((cost(draw.hard) - second).detach() * draw.log_prob.sum(1) + first - second).mean()


class LexBernoulli(Bernoulli):
    """LEX's conditional law, without noise where a coin is off (methods.md 3.2)."""

    def coupled(self, shape=()):
        draw = super().coupled(shape)
        constant = -torch.log1p(1 / (1 - torch.sigmoid(self.logits)))
        return draw._replace(soft_given_hard=torch.where(draw.hard, draw.soft_given_hard, torch.sigmoid(constant / self.temperature)))


class SharedNoiseTopK(TopK):
    """A relaxation given the order in which features not drawn reuse the gaps between those drawn."""

    def coupled(self, shape=()):
        perturbed = self._perturbed(shape)
        order = perturbed.detach().argsort(dim=-1, descending=True)
        left = self._chosen_and_rest(order)[1]
        log_gap = torch.log(torch.empty_like(perturbed).exponential_())
        arrival = (log_gap[..., : self.k] - left).logcumsumexp(-1)
        late = torch.logaddexp(arrival[..., -1:], log_gap - self.logits)
        given = (-late).scatter(-1, order[..., : self.k], -arrival)
        return CoupledSample(self._hard(perturbed), self._soft(perturbed), self._soft(given), self.order_log_prob(order))


class ForgottenBaseline(Reinforce):
    """A wrong baseline that depends on the mask of its sample: the mean of all samples, including this one, without correction."""

    def __call__(self, p, cost, baseline=None, *, group=1):
        masks, log_prob = p.draw((self.samples, group))
        costs = cost(masks)
        return ((costs - costs.mean(0)) * log_prob.sum(1)).mean()


BIASED = {
    "pathwise, coins": (Pathwise(), COINS[4]),
    "pathwise, top k": (Pathwise(), SETS[4, 2]),
    "straight through, coins": (StraightThrough(), COINS[4]),
    "straight through, top k": (StraightThrough(), SETS[4, 2]),
    "rebar without correction, coins": (NoCorrection(), COINS[4]),
    "rebar without correction, top k": (NoCorrection(), SETS[4, 2]),
    "rebar with the same noise, coins": (SameNoise(), COINS[4]),
    "rebar with a hard control variate, coins": (HardControl(), COINS[4]),
    "rebar of LEX's law": (Rebar(), Family(partial(LexBernoulli, temperature=0.5), law_of_coins, LOGITS[4])),
    "rebar of shared noise": (Rebar(), Family(partial(SharedNoiseTopK, k=2, temperature=0.5), partial(law_of_sets, 2), LOGITS[4])),
    "reinforce that judges itself": (ForgottenBaseline(samples=4), COINS[4]),
}


@pytest.mark.parametrize("name", BIASED)
def test_a_bias_is_seen(name):
    estimator, family = BIASED[name]
    with pytest.raises(AssertionError, match="standard errors from the truth"):
        assert_unbiased(estimator, family, cost)


# ---- what else an estimator promises ----

ESTIMATORS = [Reinforce(), Rebar(), Disarm(), Pathwise(), StraightThrough(), Enumeration()]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_calls_the_cost_as_it_says(estimator):
    asked = []

    def spy(masks):
        asked.append(masks.shape)
        return cost(masks)

    logits = torch.randn(6, 4).requires_grad_()
    loss = estimator(Bernoulli(logits), spy)
    assert loss.shape == ()
    assert torch.autograd.grad(loss, logits)[0].shape == logits.shape
    for outer, joined, rows, count in asked:
        assert outer <= estimator.masks_per_call
        assert (joined, rows, count) == (1, 6, 4)


@pytest.mark.parametrize("estimator", ESTIMATORS[:-1], ids=lambda e: type(e).__name__)
def test_joins_as_many_masks_as_asked(estimator):
    asked = []

    def spy(masks):
        asked.append(masks.shape[1])
        return cost(masks)

    estimator(Bernoulli(torch.randn(6, 4).requires_grad_()), spy, group=3)
    assert set(asked) == {3}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_says_whether_it_differentiates_the_cost(estimator):
    weight = torch.ones((), requires_grad=True)
    seen = []

    def spy(masks):
        seen.append(torch.is_grad_enabled() and masks.requires_grad)
        return cost(masks) * weight

    estimator(Bernoulli(torch.randn(6, 4).requires_grad_()), spy)
    assert any(seen) == estimator.needs_gradient


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_gives_a_predictor_the_masks_it_will_meet(estimator):
    torch.manual_seed(0)
    masks = estimator.masks(Bernoulli(torch.randn(6, 4).requires_grad_()), (1, 3))
    assert masks.shape == (1, 3, 6, 4)
    assert not masks.requires_grad
    assert (masks.dtype == torch.bool) == (not isinstance(estimator, Pathwise))


def test_a_baseline_quietens_one_sample():
    loud = gradients(Reinforce(samples=1), COINS[4], cost, rows=20_000).var(0).sum()
    quiet = gradients(Reinforce(samples=1), COINS[4], cost, rows=20_000, baseline=1.3).var(0).sum()
    others = gradients(Reinforce(samples=4), COINS[4], cost, rows=20_000).var(0).sum()
    rebar = gradients(Rebar(), COINS[4], cost, rows=20_000).var(0).sum()
    assert quiet < loud
    assert others < loud / 4
    assert rebar < loud


def test_straight_through_costs_hard_masks():
    seen = []

    def spy(masks):
        seen.append(masks.detach())
        return cost(masks)

    StraightThrough()(Bernoulli(torch.randn(100, 4).requires_grad_()), spy)
    assert ((seen[0] == 0) | (seen[0] == 1)).all()
