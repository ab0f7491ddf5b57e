"""FastSHAP against closed forms and enumeration."""

import numpy as np
import pytest
import torch
from exact_shapley import exact_shapley
from torch import nn

from lexplain.baselines import FastSHAP
from lexplain.core import Batch
from lexplain.imputers import Constant, Marginal

X = np.random.default_rng(0).normal(3, [1, 2, 5, 1], size=(300, 4))
MEAN, SCALE = X.mean(0), X.std(0)
WEIGHT = np.array([2.0, -1.0, 0.5, 0.0])


def linear(rows):
    return rows @ WEIGHT + 7


def curved(rows):
    a, b, c, _ = ((rows - MEAN) / SCALE).T
    likely = 1 / (1 + np.exp(-a * b - 2 * c))
    return np.stack([1 - likely, likely], 1)


LINEAR = nn.Sequential(nn.Linear(4, 64), nn.Linear(64, 4))  # as a whole; one layer would need more steps


@pytest.mark.parametrize(("network", "near"), [(LINEAR, 0.02), (None, 0.3)], ids=["linear network", "default network"])
def test_of_a_linear_model_with_a_mean_baseline_it_gives_weights_times_distances(network, near):
    explainer = FastSHAP(imputer=Constant(0.0), network=network, steps=400).fit(X, model=linear)
    e = explainer.explain(X[:50])
    exact = torch.tensor(WEIGHT * (X[:50] - MEAN))
    assert (e.scores - exact).abs().mean() < near * exact.abs().mean()


def test_of_a_nonlinear_model_it_gives_shapley_values():
    e = FastSHAP(imputer=Constant(0.0), steps=700).fit(X, model=curved).explain(X[:40], target=1)
    games = [lambda masks, row=row: torch.tensor(curved(np.where(masks.numpy(), row, MEAN))[:, 1]) for row in X[:40]]
    exact = torch.stack([exact_shapley(game, 4) for game in games])
    apart = (e.scores - exact).square().sum() / exact.square().sum()
    assert apart < 0.05


def test_weights_times_distances_of_a_linear_model_have_no_loss():
    explainer = FastSHAP(imputer=Constant(1.0), steps=1).fit(X, model=linear)  # a standard deviation above the mean
    scale = explainer.target_.scale
    explainer.network_ = lambda x: (x - 1) * torch.tensor(WEIGHT * SCALE / scale).float()
    said = torch.tensor((linear(X[:20]) - explainer.target_.mean) / scale)[:, None].float()
    x = explainer.features_.encode(X[:20]).x
    assert explainer._loss(Batch(x, torch.distributions.Normal(said[:, 0], 1.0), aux_target=said)) < 1e-9
    assert torch.allclose(explainer.explain(X[:20]).scores, torch.tensor(WEIGHT * (X[:20] - MEAN - SCALE)).float(), atol=1e-4)


def test_the_loss_is_least_at_the_shapley_values():
    """The mean over many draws of equation 6, with values that add up, is that of Shapley values or higher."""
    explainer = FastSHAP(imputer=Constant(0.0), network=nn.Linear(4, 8), steps=1, masks=2000).fit(X, model=curved)
    x = explainer.features_.encode(X[:1]).x
    exact = exact_shapley(lambda masks: torch.tensor(curved(np.where(masks.numpy(), X[0], MEAN))), 4).float()  # (4, 2)
    batch = Batch(x, torch.distributions.Categorical(torch.ones(1, 2)), aux_target=torch.tensor(curved(X[:1])).float())

    def loss_of(values):
        explainer.network_ = lambda x: values.reshape(1, -1)
        torch.manual_seed(0)
        return float(explainer._loss(batch))

    best = loss_of(exact)
    for j in range(4):
        for move in (-0.1, 0.1):
            moved = exact.clone()
            moved[j] += move
            assert loss_of(moved) > best


@pytest.mark.parametrize("imputer", [None, Constant(0.0), Marginal], ids=["surrogate", "constant", "marginal"])
def test_values_add_up_however_short_the_training(imputer):
    explainer = FastSHAP(imputer=imputer, steps=5).fit(X, model=curved)
    e = explainer.explain(X[:20], target=1)
    if imputer is None:
        x, shown = explainer.features_.encode(X[:20]).x, torch.ones(20, 4)
        gain = explainer.surrogate_.probabilities(x, shown)[:, 1] - explainer.surrogate_.probabilities(x, 0 * shown)[:, 1]
    else:
        nothing = curved(MEAN[None])[:, 1] if imputer is not Marginal else explainer.null_[1].numpy()
        gain = torch.tensor(curved(X[:20])[:, 1] - nothing)
    assert torch.allclose(e.scores.sum(1).double(), gain.double(), atol=1e-4)
    if imputer is Marginal:
        assert explainer.null_[1] == pytest.approx(curved(X)[:, 1].mean(), abs=0.05)


def test_the_surrogate_explains_what_it_has_learned():
    def one_matters(rows):
        likely = 1 / (1 + np.exp(-3 * (rows[:, 1] - MEAN[1])))
        return np.stack([1 - likely, likely], 1)

    explainer = FastSHAP(steps=400, keep=1).fit(X, model=one_matters)
    assert explainer.model_rows_ == 300  # the training asks the surrogate alone
    e = explainer.explain(X[:50])
    assert e.mask[:, 1].double().mean() > 0.9
    assert explainer.model_rows_ == 350


def test_the_network_passed_in_is_not_trained():
    network = nn.Linear(4, 4)
    before = network.weight.clone()
    FastSHAP(imputer=Constant(0.0), network=network, steps=5).fit(X, model=linear)
    assert torch.equal(network.weight, before)


def test_every_subset_comes_with_its_complement():
    explainer = FastSHAP(imputer=Constant(0.0), steps=1, masks=3).fit(X, model=linear)
    seen = []
    explainer._value = lambda x, mask: seen.append(mask) or torch.zeros(len(x), 1)
    explainer._loss(Batch(torch.zeros(5, 4), torch.distributions.Normal(torch.zeros(5), 1.0), aux_target=torch.zeros(5, 1)))
    shown = seen[0].reshape(2, 3, 5, 4)
    assert torch.equal(shown[0], ~shown[1])
    assert shown.any(3).all() and not shown.all(3).any()
