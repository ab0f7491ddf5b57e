"""Discretised logistics: probabilities of all levels, Bayes' rule, and draws against their law."""

import math
from itertools import product

import pytest
import torch

from lexplain.core import seeded
from lexplain.imputers import LogisticMeans, LogisticMixture

N = 40_000
LEVELS = torch.arange(256.0) / 255
WEIGHTS = torch.tensor([0.5, 0.2, 0.3])
MEANS = torch.tensor([[-0.9, 0.1], [0.3, 0.4], [1.0, -0.6]])
SCALES = torch.tensor([[0.1, 0.05], [0.2, 0.3], [0.02, 0.1]])
ROW = torch.tensor([200 / 255, 100 / 255])


def level_probability(level, mean, scale):
    """The share of a logistic distribution of [-1, 1] that falls on a level, the ends taking all that lies beyond."""

    def below(at):
        return 1 / (1 + math.exp(-(at - mean) / scale)) if abs(at - mean) / scale < 700 else float(at > mean)

    at = 2 * level / 255 - 1
    return (1.0 if level == 255 else below(at + 1 / 255)) - (0.0 if level == 0 else below(at - 1 / 255))


def bayes(on):
    joint = []
    for k, weight in enumerate(WEIGHTS.tolist()):
        for d in range(2):
            if on[d]:
                weight *= level_probability(round(255 * ROW[d].item()), MEANS[k, d].item(), SCALES[k, d].item())
        joint.append(weight)
    return torch.tensor(joint) / sum(joint)


def test_levels_have_the_probabilities_of_the_logistic():
    for k, d in product(range(3), range(2)):
        one = LogisticMixture(torch.ones(1), MEANS[k, d].reshape(1, 1), SCALES[k, d].reshape(1, 1))
        truth = torch.tensor([level_probability(level, MEANS[k, d].item(), SCALES[k, d].item()) for level in range(256)])
        assert torch.allclose(one.log_prob(LEVELS[:, None]).exp(), truth, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1e-2, 0.3, 5.0])
@pytest.mark.parametrize("mean", [-1.0, -0.37, 1.0])
def test_probabilities_of_all_levels_sum_to_one(mean, scale):
    one = LogisticMixture(torch.ones(1), torch.tensor([[mean]]), torch.tensor([[scale]]))
    found = one.log_prob(LEVELS[:, None])
    assert found.exp().sum().item() == pytest.approx(1, abs=1e-5)
    assert found.isfinite().all()


def test_pairs_of_levels_sum_to_one_under_the_mixture():
    pairs = torch.cartesian_prod(LEVELS, LEVELS)
    assert LogisticMixture(WEIGHTS, MEANS, SCALES).log_prob(pairs).exp().sum().item() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("on", [(True, True), (True, False), (False, True), (False, False)], ids=str)
def test_responsibilities_are_those_of_bayes(on):
    mask = torch.tensor(on)
    found = LogisticMixture(WEIGHTS, MEANS, SCALES).log_responsibilities(ROW[None], mask[None]).exp()[0]
    assert torch.allclose(found, bayes(on), atol=1e-5)
    if not any(on):
        assert torch.allclose(found, WEIGHTS)
    if not all(on):
        filled = LogisticMeans(WEIGHTS, MEANS, SCALES)(ROW.expand(N, 2), mask.expand(N, 2))
        known = ((filled[:, None, ~mask] - (MEANS[:, ~mask] + 1) / 2).abs() < 1e-6).all(2)
        assert (known.sum(1) == 1).all()
        assert ((known.float().mean(0) - bayes(on)).abs() <= 5 * (bayes(on) * (1 - bayes(on)) / N).sqrt() + 1e-6).all()


def test_draws_follow_the_conditional():
    on = (True, False)
    draws = LogisticMixture(WEIGHTS, MEANS, SCALES)(ROW.expand(N, 2), torch.tensor(on).expand(N, 2))[:, 1]
    assert draws.min() >= 0
    assert draws.max() <= 1
    for level in (20, 60, 130, 200, 240):
        edge = (2 * level + 1) / 255 - 1  # between this level and the next, in [-1, 1]
        truth = sum(p / (1 + math.exp(-(edge - MEANS[k, 1].item()) / SCALES[k, 1].item())) for k, p in enumerate(bayes(on).tolist()))
        share = (2 * draws - 1 < edge).float().mean().item()
        assert abs(share - truth) < 5 * (truth * (1 - truth) / N) ** 0.5


def test_fit_climbs_from_k_means_to_the_law_of_the_data():
    mixture = LogisticMixture(WEIGHTS, MEANS, SCALES)
    x = (255 * mixture(torch.zeros(2000, 2), torch.zeros(2000, 2).bool())).round() / 255
    with seeded(0):
        start = LogisticMixture.fit(x, components=3, steps=0)
    with seeded(0):
        end = LogisticMixture.fit(x, components=3, steps=120, learning_rate=0.03)
    assert torch.allclose(end.weights.sum(), torch.ones(()))
    assert start.log_prob(x).mean() + 0.02 < end.log_prob(x).mean() <= mixture.log_prob(x).mean() + 0.05
    assert end.log_prob(x).mean() > mixture.log_prob(x).mean() - 0.1


def test_fit_is_the_seeds_own_and_means_are_fitted_alike():
    x, fits = torch.rand(100, 2), []
    for kind, seed in ((LogisticMixture, 0), (LogisticMeans, 0), (LogisticMixture, 1)):
        with seeded(seed):
            fits.append(kind.fit(x, components=3, steps=3).means)
    assert torch.equal(fits[0], fits[1])
    assert not torch.equal(fits[0], fits[2])
    mixture = LogisticMixture(WEIGHTS, MEANS, SCALES)
    assert torch.equal(LogisticMeans.of(mixture).scales, SCALES)


def test_k_means_starts_with_logistic_scales():
    draws = (0.5 + 0.05 * torch.logit(torch.rand(20_000, 1))).clamp(0, 1)  # a scale of 0.1 in [-1, 1]
    assert LogisticMixture.fit(draws, components=1, steps=0).scales.item() == pytest.approx(0.1, rel=0.03)


def test_gradients_of_chunks_are_those_of_the_whole(monkeypatch):
    x, fits = torch.rand(60, 2), []
    for chunk in (1, 2**22):
        monkeypatch.setattr("lexplain.imputers.logistics.CHUNK", chunk)
        with seeded(0):
            fits.append(LogisticMixture.fit(x, components=3, steps=5, learning_rate=0.1))
    assert torch.allclose(fits[0].means, fits[1].means, atol=1e-5)
    assert torch.allclose(fits[0].scales, fits[1].scales, atol=1e-5)


def test_fit_survives_columns_that_never_vary():
    x = torch.zeros(50, 2)
    x[:, 0] = torch.rand(50)
    fitted = LogisticMixture.fit(x, components=2, steps=20)
    assert all(value.isfinite().all() for value in fitted.state_dict().values())
    assert fitted(x, torch.zeros(50, 2).bool())[:, 1].max() < 0.05


@pytest.mark.parametrize("x", [torch.tensor([[-0.1]]), torch.tensor([[255.0]]), torch.tensor([[torch.nan]])], ids=["low", "high", "nan"])
def test_fit_refuses_rows_that_are_not_of_the_unit_interval(x):
    with pytest.raises(ValueError, match=r"\[0, 1\].*255"):
        LogisticMixture.fit(x.expand(30, 1))
