"""The piecewise-linear encoding against worked numbers."""

import numpy as np
import pytest
import torch
from torch import nn

from lexplain.networks import Ensemble, PiecewiseLinear
from lexplain.networks.piecewise import SCALE

BINS = np.array([[0, -1.0, 1.0], [0, 0.0, 2.0], [2, 0.5, 0.5]])  # column, lower edge, width


def test_positions_in_bins_follow_the_values():
    x = torch.tensor([[-2.0, 9.0, 0.75], [-0.5, 9.0, 0.0], [1.0, 9.0, 7.0]])
    positions = torch.tensor([[0.0, 0.0, 0.5], [0.5, 0.0, 0.0], [1.0, 0.5, 1.0]])  # of equation 1, between 0 and 1
    assert torch.equal(PiecewiseLinear(nn.Identity(), BINS)(x), torch.cat([x, SCALE * (positions - 0.5)], 1))


def test_a_gain_multiplies_values_alone():
    x = torch.randn(5, 3)
    encode = PiecewiseLinear(nn.Identity(), BINS)
    assert torch.equal(encode(x, gain=torch.tensor(2.0))[:, :3], 2 * x)
    assert torch.equal(encode(x, gain=torch.tensor(2.0))[:, 3:], encode(x)[:, 3:])


def test_the_bins_are_saved_and_not_learned():
    network = PiecewiseLinear(Ensemble((6,), 2, members=2), BINS)
    assert {"column", "low", "width"} <= set(network.state_dict())
    assert not {"column", "low", "width"} & {name for name, _ in network.named_parameters()}
    before = [weight.clone() for weight in network.parameters()]
    torch.manual_seed(1)
    network.reset_parameters()
    assert not torch.equal(before[0], next(network.parameters()))
    assert network.low.tolist() == BINS[:, 1].tolist()


def test_the_context_comes_after_the_encoding():
    class Both(nn.Module):
        def forward(self, x, context):
            return torch.cat([x, context], 1)

    assert PiecewiseLinear(Both(), BINS)(torch.zeros(2, 3), torch.ones(2, 4)).shape == (2, 3 + 3 + 4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_it_is_the_same_on_a_gpu():
    x, encode = torch.randn(100, 3), PiecewiseLinear(nn.Identity(), BINS)
    assert torch.equal(encode(x), encode.cuda()(x.cuda()).cpu())
