"""Fresh networks."""

import pytest
import torch
from torch import nn

from lexplain.core import Trial, as_target
from lexplain.features import Columns
from lexplain.predictors import Classes, RealValue, mlp
from lexplain.training.retrained import retrain

X = torch.randn(600, 3, generator=torch.Generator().manual_seed(0))
FEATURES = Columns().fit(X.numpy())
CLASSES = Trial(X, as_target(torch.eye(2)[(X[:, 0] > 0).long()], real=False))
VALUES = Trial(X, as_target(X[:, 1], real=True))


def test_learns_classes_and_values():
    classes = retrain(CLASSES.take(slice(0, 500)), FEATURES, Classes(2), steps=300)(X[500:])
    assert torch.allclose(classes.sum(1), torch.ones(100), atol=1e-5)
    assert (classes.argmax(1) == (X[500:, 0] > 0)).double().mean() > 0.95
    values = retrain(VALUES.take(slice(0, 500)), FEATURES, RealValue(), steps=300)(X[500:])
    assert values.shape == (100, 1)
    assert (values[:, 0] - X[500:, 1]).square().mean() < 0.05


def test_begins_from_scratch_and_leaves_the_given_network_alone():
    network = mlp((3,), 2, sees_mask=False, hidden=(8, 64))
    with torch.no_grad():
        for weight in network.parameters():
            weight.fill_(1e6)  # nothing could be learned from here
    before = [weight.clone() for weight in network.parameters()]
    state = torch.get_rng_state()
    model = retrain(CLASSES, FEATURES, Classes(2), network=network, steps=300)
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(*pair) for pair in zip(network.parameters(), before, strict=True))
    assert (model(X).argmax(1) == (X[:, 0] > 0)).double().mean() > 0.9
    assert isinstance(model.predictor.network[1], nn.Linear) and model.predictor.network[1].out_features == 8
    assert not any(weight.requires_grad for weight in model.parameters())


def test_the_seed_decides():
    one, same, other = (retrain(CLASSES, FEATURES, Classes(2), steps=5, seed=seed)(X) for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.allclose(one, other)


def test_refuses_rows_that_cannot_be_split():
    with pytest.raises(ValueError, match="too few"):
        retrain(CLASSES.take(slice(0, 10)), FEATURES, Classes(2))
