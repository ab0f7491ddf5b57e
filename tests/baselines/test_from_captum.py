"""Captum's attributions against closed forms."""

import numpy as np
import pytest
import torch
from torch import nn

from lexplain import Groups
from lexplain.baselines import Ablation, DeepLift, GradientXInput, IntegratedGradients, Saliency, SmoothGrad

pytest.importorskip("captum")
pytestmark = pytest.mark.filterwarnings("ignore:Setting forward, backward hooks:UserWarning")

X = np.random.default_rng(0).normal(3, [1, 2, 5], size=(50, 3)).astype(np.float32)
MEAN, SCALE = torch.tensor(X.mean(0)), torch.tensor(X.std(0))
WEIGHT = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0], [2.0, 1.0, 1.0]])


class Squares(nn.Module):
    """Logits x² W: slopes that depend on the row."""

    def forward(self, x):
        return x**2 @ WEIGHT.T


def linear():
    network = nn.Linear(3, 3)
    network.load_state_dict({"weight": WEIGHT, "bias": torch.tensor([1.0, 2.0, 3.0])})
    return network


def away(x):
    return torch.tensor(x) - MEAN


@pytest.mark.parametrize("method", [GradientXInput, IntegratedGradients, DeepLift, Ablation])
def test_a_linear_network_gives_its_weights_times_the_distance_from_the_mean(method):
    model = linear() if method is not Ablation else lambda rows: np.asarray(rows) @ WEIGHT.numpy()[1]
    e = method().fit(X, model=model).explain(X[:9], target=1 if method is not Ablation else None)
    assert torch.allclose(e.scores, away(X[:9]) * WEIGHT[1], atol=1e-4)


def test_a_group_falls_once():
    explainer = Ablation(features=Groups(groups={"both": [0, 2]})).fit(X, model=lambda rows: np.asarray(rows) @ WEIGHT.numpy()[1])
    terms = away(X[:9]) * WEIGHT[1]
    assert torch.allclose(explainer.explain(X[:9]).scores, torch.stack([terms[:, 0] + terms[:, 2], terms[:, 1]], 1), atol=1e-4)


def test_saliency_is_the_slope_of_the_logit_in_standard_deviations_with_its_sign():
    e = Saliency().fit(X, model=Squares()).explain(X[:9])
    x = torch.tensor(X[:9])
    assert torch.equal(e.target_index, Squares()(x).argmax(1))
    assert torch.allclose(e.scores, 2 * x * WEIGHT[e.target_index] * SCALE, rtol=1e-4, atol=1e-3)
    assert (e.scores < 0).any()


def test_integrated_gradients_of_squares():
    e = IntegratedGradients().fit(X, model=Squares()).explain(X[:9], target=0)
    x = torch.tensor(X[:9])
    assert torch.allclose(e.scores, (x**2 - MEAN**2) * WEIGHT[0], rtol=1e-3, atol=1e-2)


def test_the_points_of_integrated_gradients_are_heeded():
    rough, exact = (IntegratedGradients(points=points).fit(X, model=Steep()).explain(X[:9], target=0) for points in (1, 50))
    assert not torch.allclose(rough.scores, exact.scores, atol=0.01)


class Steep(nn.Module):
    """Logits with a slope that changes on the way."""

    def forward(self, x):
        return torch.sigmoid(x * 2) @ WEIGHT.T


def test_smoothgrad_is_the_mean_slope_at_noisy_copies():
    explainer = SmoothGrad(samples=30, noise=0.5).fit(X, model=Steep())
    e = explainer.explain(X[:4], target=2)
    assert explainer.noise_.std() == pytest.approx(0.5, rel=0.2)
    near = torch.tensor(X[:4])[:, None] + explainer.noise_ * SCALE  # (4, 30, 3)
    s = torch.sigmoid(2 * near)
    assert torch.allclose(e.scores, (2 * s * (1 - s)).mean(1) * WEIGHT[2] * SCALE, atol=1e-4)


def test_the_network_is_left_as_it_was():
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2)).double().train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    scores = DeepLift().fit(X, model=network).explain(X[:5]).scores
    bare = nn.Sequential(network[0], network[1], network[3])
    assert torch.allclose(scores, DeepLift().fit(X, model=bare).explain(X[:5]).scores)  # dropout is off
    assert network.training and all(p.requires_grad and p.dtype == torch.double for p in network.parameters())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
