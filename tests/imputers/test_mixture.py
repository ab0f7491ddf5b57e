"""Mixtures against Bayes' rule, one component and one visible entry at a time."""

import math
from itertools import product

import pytest
import torch

from lexplain.core import seeded
from lexplain.imputers import GaussianMixture, IndependentGaussian, MixtureMeans, MixtureRows

N = 60_000
WEIGHTS = torch.tensor([0.5, 0.2, 0.3])
MEANS = torch.tensor([[0.0, 1.0, -1.0], [1.0, -0.5, 0.5], [-1.5, 0.3, 2.0]])
VARIANCES = torch.tensor([[1.0, 0.5, 2.0], [0.3, 1.2, 0.8], [2.0, 0.7, 0.4]])
ROW = torch.tensor([0.4, 0.2, 0.9])
MASKS = list(product([True, False], repeat=3))


def bayes(row, on, weights=WEIGHTS, means=MEANS, variances=VARIANCES):
    """p(k | what is visible), the slow way; `on` are powers of the likelihoods, 0 or 1 for a hard mask."""
    joint = []
    for k, weight in enumerate(weights.tolist()):
        for d, power in enumerate(on):
            if power:
                gap, variance = row[d].item() - means[k, d].item(), variances[k, d].item()
                weight *= (math.exp(-0.5 * gap**2 / variance) / math.sqrt(2 * math.pi * variance)) ** float(power)
        joint.append(weight)
    return torch.tensor(joint) / sum(joint)


def close(share, truth, n=N):
    return ((share - truth).abs() <= 5 * (truth * (1 - truth) / n).sqrt() + 1e-6).all()


@pytest.mark.parametrize("on", MASKS, ids=str)
def test_responsibilities_are_those_of_bayes(on):
    found = GaussianMixture(WEIGHTS, MEANS, VARIANCES).log_responsibilities(ROW[None], torch.tensor([on])).exp()[0]
    assert torch.allclose(found, bayes(ROW, on), atol=1e-6)
    if not any(on):
        assert torch.allclose(found, WEIGHTS)


def test_a_soft_mask_weighs_each_entry():
    on = torch.tensor([0.3, 1.0, 0.0])
    found = GaussianMixture(WEIGHTS, MEANS, VARIANCES).log_responsibilities(ROW[None], on[None]).exp()[0]
    assert torch.allclose(found, bayes(ROW, on.tolist()), atol=1e-6)


@pytest.mark.parametrize("on", MASKS[1:], ids=str)
def test_means_are_put_as_often_as_bayes_says(on):
    filled = MixtureMeans(WEIGHTS, MEANS, VARIANCES)(ROW.expand(N, 3), torch.tensor(on).expand(N, 3))
    off = ~torch.tensor(on)
    known = (filled[:, None, off] == MEANS[:, off]).all(2)  # (N, K) every mean is known by any of its entries
    assert (known.sum(1) == 1).all()
    assert close(known.float().mean(0), bayes(ROW, on))


@pytest.mark.parametrize("on", MASKS[1:], ids=str)
def test_draws_have_the_moments_of_the_conditional(on):
    off = ~torch.tensor(on)
    draws = GaussianMixture(WEIGHTS, MEANS, VARIANCES)(ROW.expand(N, 3), torch.tensor(on).expand(N, 3))[:, off].double()
    share = bayes(ROW, on).double()
    means, variances = MEANS[:, off].double(), VARIANCES[:, off].double()
    mean = share @ means
    second = torch.einsum("k,kd,ke->de", share, means, means) + (share @ variances).diag()
    assert ((draws.mean(0) - mean).abs() < 5 * draws.std(0) / N**0.5).all()
    products = draws[:, :, None] * draws[:, None]
    assert ((products.mean(0) - second).abs() < 5 * products.std(0) / N**0.5).all()


def test_one_component_is_the_independent_gaussian():
    mixture = GaussianMixture(torch.ones(1), MEANS[:1], VARIANCES[:1])
    x, mask = torch.full((N, 3), 9.0), torch.zeros(N, 3).bool()
    one, two = mixture(x, mask), IndependentGaussian(MEANS[0], VARIANCES[0].sqrt())(x, mask)
    for draws in (one, two):
        assert ((draws.mean(0) - MEANS[0]).abs() < 5 * (VARIANCES[0] / N).sqrt()).all()
        assert ((torch.cov(draws.T) - VARIANCES[0].diag()).abs() < 5 * 2 * VARIANCES.max() / N**0.5).all()


@pytest.mark.parametrize("on", [(False, False, False), (True, False, False), (False, True, True)], ids=str)
def test_stored_rows_are_drawn_by_their_responsibilities(on):
    rows = torch.randn(7, 3)
    imputer = MixtureRows.of(GaussianMixture(WEIGHTS, MEANS, VARIANCES), rows)
    filled = imputer(ROW.expand(N, 3), torch.tensor(on).expand(N, 3))
    off = ~torch.tensor(on)
    known = (filled[:, None, off] == rows[:, off]).all(2)
    assert (known.sum(1) == 1).all()
    fits = torch.stack([bayes(row, (True,) * 3) for row in rows])  # (7, K)
    assert close(known.float().mean(0), (fits / fits.sum(0)) @ bayes(ROW, on))


def test_many_rows_of_many_columns_are_drawn():
    # Where the published rule, by the density of a row, gives all to the one that lies nearest to the mean.
    x = torch.rand(500, 100)
    imputer = MixtureRows.fit(x, components=2)
    filled = imputer(x[:1].expand(2000, 100), torch.zeros(2000, 100).bool())
    assert len(filled.unique(dim=0)) > 400


def test_components_that_are_handed_on_are_copies():
    mixture = GaussianMixture(WEIGHTS, MEANS, VARIANCES)
    other = MixtureMeans.of(mixture)
    other.load_state_dict({name: value + 1 for name, value in other.state_dict().items()})
    assert torch.equal(mixture.means, MEANS)
    assert torch.equal(MixtureMeans.of(mixture).means, MEANS)


def test_rows_come_from_where_they_are_asked_for():
    x, other = torch.randn(100, 3), torch.randn(20, 3) + 50
    filled = MixtureRows.fit(x, components=2, background=other)(x, torch.zeros(100, 3).bool())
    assert filled.min() > 40


def test_precise_columns_far_from_zero_stay_precise():
    # 32-bit squares of the values themselves would be off by hundreds of nats.
    means, variances = torch.tensor([[1000.0, 0.0], [1000.5, 0.0]]), torch.tensor([[1e-2, 1.0], [1e-2, 1.0]])
    mixture = GaussianMixture(torch.tensor([0.5, 0.5]), means, variances)
    x = torch.tensor([[1000.26, 0.0]])
    found = mixture.log_responsibilities(x, torch.ones(1, 2).bool()).exp()[0]
    assert torch.allclose(found, bayes(x[0], (True, True), torch.tensor([0.5, 0.5]), means, variances), atol=1e-3)


def test_hopeless_rows_have_finite_responsibilities():
    mixture = GaussianMixture(WEIGHTS, MEANS, VARIANCES * 1e-6)
    found = mixture.log_responsibilities(torch.full((4, 3), 1e3), torch.ones(4, 3).bool())
    assert found.isfinite().all()
    assert torch.allclose(found.exp().sum(1), torch.ones(4))


def test_fit_finds_the_groups():
    group = torch.rand(3000) < 0.25
    x = torch.where(group[:, None], 4.0, -4.0) + torch.randn(3000, 3) * torch.tensor([0.5, 1.0, 1.0])
    mixture = GaussianMixture.fit(x, components=2)
    order = mixture.weights.argsort()
    assert torch.allclose(mixture.weights[order], torch.tensor([0.25, 0.75]), atol=0.03)
    assert torch.allclose(mixture.means[order], torch.tensor([[4.0] * 3, [-4.0] * 3]), atol=0.15)
    assert torch.allclose(mixture.variances[order], torch.tensor([0.25, 1.0, 1.0]).expand(2, 3), atol=0.15)


def test_jitter_widens_what_never_varies_and_moves_nothing():
    x = torch.zeros(4000, 3)
    x[:, 0] = torch.randn(4000)
    still, moved = GaussianMixture.fit(x, components=1), GaussianMixture.fit(x, components=1, jitter=0.6)
    assert torch.allclose(moved.variances[0] - still.variances[0], torch.full((3,), 0.36 / 12), atol=0.01)
    assert torch.allclose(moved.means, still.means, atol=0.02)


@pytest.mark.parametrize("kind", [GaussianMixture, MixtureMeans, MixtureRows])
def test_fit_survives_few_rows_and_is_the_seeds_own(kind):
    few = torch.randn(11, 3)
    assert len(kind.fit(few, components=10).weights) == 2
    assert len(kind.fit(few[:3].repeat(9, 1), components=10).weights) == 1  # rows that repeat tell nothing of a spread
    x, fits = torch.randn(300, 3), []
    for _ in range(2):
        with seeded(3):
            fits.append(kind.fit(x, components=4, rows=100, jitter=0.1).state_dict())
    assert all(torch.equal(fits[0][name], fits[1][name]) for name in fits[0])
    with seeded(4):
        assert not torch.equal(kind.fit(x, components=4, rows=100).means, fits[0]["means"])


@pytest.mark.parametrize("settings", [{"components": 0}, {"components": 2.5}, {"rows": 0}], ids=str)
def test_fit_refuses_what_is_no_count(settings):
    with pytest.raises(ValueError, match="positive integer"):
        GaussianMixture.fit(torch.randn(30, 3), **settings)
