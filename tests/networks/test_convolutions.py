import numpy as np
import pytest
import torch
from torch import nn

from lexplain.models import NetworkFunction
from lexplain.networks import DenseNet, cnn


@pytest.mark.parametrize("shape", [(1, 28, 56), (3, 33, 17), (1, 8, 8), (2, 3, 5)], ids=str)
@pytest.mark.parametrize("sees_mask", [False, True])
@pytest.mark.parametrize("norm", [False, True])
def test_any_image_becomes_as_many_numbers_as_asked(shape, sees_mask, norm):
    network = cnn(shape, 7, sees_mask=sees_mask, width=4, norm=norm)
    channels = shape[0] * (2 if sees_mask else 1)
    assert network(torch.rand(2, channels, *shape[1:])).shape == (2, 7)


def test_densenet_is_as_deep_as_its_name():
    network = DenseNet((1, 64, 64), 2, sees_mask=False)
    counted = [m for m in network.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    assert len(counted) == 121
    assert network(torch.rand(1, 1, 64, 64)).shape == (1, 2)
    # 6,953,856 numbers in the layers of table 1 for three channels, of which the first convolution has 2 x 64 x 49 fewer here
    assert sum(p.numel() for p in network.layers.parameters()) == 6_953_856 - 2 * 64 * 49
    assert DenseNet((3, 32, 40), 5, sees_mask=True, blocks=(1, 2), growth=8)(torch.rand(2, 6, 32, 40)).shape == (2, 5)


def test_a_network_is_asked_for_many_images_in_parts(monkeypatch):
    monkeypatch.setattr("lexplain.models.queried.NUMBERS", 3 * 16)
    seen = []

    class Network(nn.Module):
        def forward(self, x):
            seen.append(len(x))
            return x.flatten(1)[:, :2]

    rows = np.random.default_rng(0).random((8, 1, 4, 4))
    answer = NetworkFunction(Network())(rows)
    assert seen == [3, 3, 2]
    assert np.allclose(answer, torch.tensor(rows.reshape(8, -1)[:, :2]).softmax(1), atol=1e-6)
