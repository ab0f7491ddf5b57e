"""Networks trained from scratch, and networks with new random weights."""

import pytest
import torch
from torch import nn

from lexplain.core import Batch, Classes, RealValue, as_target
from lexplain.evaluation.retrained import reinitialised, retrain
from lexplain.features import Columns
from lexplain.networks import mlp

X = torch.randn(600, 3, generator=torch.Generator().manual_seed(0))
FEATURES = Columns().fit(X.numpy())
CLASSES = Batch(X, as_target(torch.eye(2)[(X[:, 0] > 0).long()], real=False))
VALUES = Batch(X, as_target(X[:, 1], real=True))


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


def test_rows_that_cannot_be_split_raise():
    with pytest.raises(ValueError, match="too few"):
        retrain(CLASSES.take(slice(0, 10)), FEATURES, Classes(2))


# ---- new random weights ----


class Scaled(nn.Module):
    """A network with a parameter that no layer can reset."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((400,), 7.0))
        self.net = nn.Sequential(nn.Linear(400, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))

    def forward(self, x):
        return self.net(self.scale * x)


def weights(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


def moved(before, after):
    return {name for name in before if not torch.equal(before[name], after[name])}


def test_a_reinitialised_model_has_forgotten_and_the_given_one_has_not():
    model = Scaled()
    model.net[1](torch.randn(50, 3))  # moves the running statistics
    before = weights(model)
    fresh = reinitialised(model, seed=1)
    assert {"scale", "net.0.weight", "net.0.bias", "net.2.weight", "net.1.running_mean"} <= moved(before, weights(fresh))
    assert fresh.scale.std().item() == pytest.approx(7, rel=0.15)
    assert fresh.net[0].weight.abs().max() <= 1 / 20  # torch's own start for 400 inputs
    assert not moved(before, weights(model))
    assert not moved(weights(fresh), weights(reinitialised(model, seed=1)))
    assert moved(weights(fresh), weights(reinitialised(model, seed=2)))


def test_a_new_draw_is_not_the_one_a_model_began_from():
    torch.manual_seed(3)
    model = nn.Linear(4, 4)
    assert moved(weights(model), weights(reinitialised(model, seed=3)))


def test_attention_is_reset_by_its_own_rule():
    attention = nn.MultiheadAttention(8, 2)
    nn.init.constant_(attention.in_proj_weight, 100.0)
    assert reinitialised(attention).in_proj_weight.abs().max() < 2


def test_new_weights_leave_the_callers_random_state_alone():
    model = nn.Linear(2, 2)
    state = torch.get_rng_state()
    reinitialised(model)
    assert torch.equal(state, torch.get_rng_state())
