import numpy as np
import pytest
import torch
from torch import nn

from lexplain.features import Columns, Patches
from lexplain.predictors import DenseNet, NetworkFunction, cnn, ensemble_for, network_for
from lexplain.predictors.by_kind import NETWORKS, PredictorNetworks


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


def test_the_kind_chooses_the_network():
    image, table = Patches().fit(np.zeros((1, 8, 8))), Columns().fit(np.eye(8))
    assert any(isinstance(layer, nn.Conv2d) for layer in network_for(image, 2, sees_mask=True))
    assert not any(isinstance(layer, nn.Conv2d) for layer in network_for(table, 2, sees_mask=True))
    for features, shape in ((image, (5, 2, 8, 8)), (table, (5, 16))):
        assert network_for(features, 2, sees_mask=True)(torch.rand(shape)).shape == (5, 2)
        assert ensemble_for(features, 3, members=2)(torch.rand(5, *features.shape)).shape == (5, 3)


def test_a_kind_joins_with_a_line(monkeypatch):
    class Mine(Columns):
        kind = "mine"

    features = Mine().fit(np.eye(4))
    with pytest.raises(ValueError, match=r"known for features of kind 'mine', only for columns, patches; add a line"):
        network_for(features, 2, sees_mask=False)
    made = nn.Linear(4, 2)
    monkeypatch.setitem(NETWORKS, "mine", PredictorNetworks(lambda features, count, *, sees_mask, activation: made))
    assert network_for(features, 2, sees_mask=False) is made
    assert ensemble_for(features, 2, members=4) is made  # where a kind has no ensemble, one network


def test_a_network_is_asked_for_many_images_in_parts(monkeypatch):
    monkeypatch.setattr("lexplain.predictors.target.NUMBERS", 3 * 16)
    seen = []

    class Network(nn.Module):
        def forward(self, x):
            seen.append(len(x))
            return x.flatten(1)[:, :2]

    rows = np.random.default_rng(0).random((8, 1, 4, 4))
    answer = NetworkFunction(Network())(rows)
    assert seen == [3, 3, 2]
    assert np.allclose(answer, torch.tensor(rows.reshape(8, -1)[:, :2]).softmax(1), atol=1e-6)
