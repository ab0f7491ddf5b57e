"""CXPlain against closed forms, and its intervals."""

import numpy as np
import pytest
import torch

from lexplain.baselines import CXPlain
from lexplain.core import Batch

X = np.random.default_rng(0).normal(3, [1, 2, 5], size=(200, 3))
MEAN = X.mean(0)
WEIGHT = np.array([2.0, -1.0, 0.05])


def linear(rows):
    return rows @ WEIGHT


def likely(rows):
    p = 1 / (1 + np.exp(-(rows[:, 0] - 3) * 2))
    return np.stack([1 - p, p], 1)


def test_shares_of_a_linear_models_own_error():
    explainer = CXPlain(steps=1, members=1).fit(X, model=linear)
    squares = (WEIGHT * (X - MEAN)) ** 2  # what hiding one term of a sum adds to the squared error
    exact = squares / squares.sum(1, keepdims=True)
    assert np.allclose(explainer.shares_, exact, atol=1e-2)
    assert torch.allclose(explainer.shares_.sum(1), torch.ones(200))


def test_shares_of_the_error_on_labels():
    labels = (X[:, 0] > 3).astype(int)
    explainer = CXPlain(steps=1, members=1).fit(X, labels, model=likely)
    hidden = np.where(np.arange(3) == 0, MEAN, X[:1])
    added = np.log(likely(X[:1])[0, labels[0]]) - np.log(likely(hidden)[0, labels[0]])
    share = max(added, 1e-7) / (max(added, 1e-7) + 2e-7)  # the other two add nothing, or 1e-7
    assert explainer.shares_[0, 0] == pytest.approx(share, abs=1e-4)
    flipped = CXPlain(steps=1, members=1).fit(X, 1 - labels, model=likely)
    assert flipped.shares_[:, 0].mean() < 0.5 < explainer.shares_[:, 0].mean()  # hiding helps where the label is wrong


def test_it_learns_the_shares():
    explainer = CXPlain(steps=600, members=3).fit(X, model=linear)
    e, shares = explainer.explain(X), explainer.shares_
    assert torch.allclose(e.scores.sum(1), torch.ones(200), atol=0.1)
    assert (e.scores - shares).abs().mean() < 0.4 * (shares.mean(0) - shares).abs().mean()  # than the same for all rows


def test_the_loss_is_that_of_resampled_rows():
    explainer = CXPlain(steps=1, members=2).fit(X, model=linear)
    x, shares = explainer.features_.encode(X[:6]).x, explainer.shares_[:6]
    counts = torch.tensor([[2.0, 0.0], [0.0, 1.0], [3.0, 1.0], [0.0, 4.0], [1.0, 0.0], [0.0, 0.0]])
    apart = 0.0
    for member in range(2):
        rows = torch.arange(6).repeat_interleave(counts[:, member].long())  # the six rows of the resample
        told = explainer.networks_[member](x[rows]).log_softmax(1)
        apart += torch.nn.functional.kl_div(told, shares[rows], reduction="batchmean") / 2
    loss = explainer._loss(Batch(x, torch.distributions.Normal(torch.zeros(6), 1.0), aux_target=torch.cat([shares, counts], 1)))
    assert loss == pytest.approx(float(apart), rel=1e-4)


def test_members_have_resamples_of_their_own():
    counts = CXPlain(steps=1, members=4).fit(X, model=linear).resamples_
    assert counts.shape == (180, 4)
    assert counts.sum(0).tolist() == [180] * 4
    assert (counts == 0).double().mean() == pytest.approx(np.exp(-1), abs=0.05)
    assert not torch.equal(counts[:, 0], counts[:, 1])


def test_intervals_hold_the_scores_and_widen_with_the_level():
    explainer = CXPlain(steps=40, members=8).fit(X, model=linear)
    low, high = explainer.interval(X[:30])
    scores = explainer.explain(X[:30]).scores.numpy()
    assert low.shape == high.shape == (30, 3)
    assert (low <= scores + 1e-6).all() and (scores <= high + 1e-6).all()
    assert (low < high).all()
    less, more = explainer.interval(X[:30], level=0.5)
    assert (low < less).all() and (more < high).all()
    told = torch.stack([network(explainer.features_.encode(X[:30]).x).softmax(1) for network in explainer.networks_])
    assert np.allclose(low, np.quantile(told, 0.025, axis=0), atol=1e-6)


def test_one_member_has_no_width_and_a_level_is_a_share():
    explainer = CXPlain(steps=5, members=1).fit(X, model=linear)
    low, high = explainer.interval(X[:5])
    assert np.array_equal(low, high)
    with pytest.raises(ValueError, match=r"level .*95"):
        explainer.interval(X[:5], level=95)
