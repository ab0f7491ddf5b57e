"""Several networks that answer as one."""

import copy

import pytest
import torch

from lexplain.networks import MLP, Ensemble


def alone(ensemble, member):
    """One member as an ensemble of its own."""
    one = Ensemble((3,), 2, members=1, hidden=(5, 4))
    state = {name: value[member : member + 1] for name, value in ensemble.state_dict().items()}
    one.load_state_dict(state)
    return one


def test_the_answer_is_the_mean_of_the_members():
    ensemble, x = Ensemble((3,), 2, members=3, hidden=(5, 4)).eval(), torch.randn(7, 3)
    each = torch.stack([alone(ensemble, member).eval()(x) for member in range(3)])
    assert torch.allclose(ensemble(x), each.mean(0), atol=1e-6)
    assert not torch.allclose(each[0], each[1], atol=1e-3)


@pytest.mark.parametrize("rows", [1, 2, 6, 7])
def test_while_training_each_row_teaches_one_member(rows):
    ensemble, x = Ensemble((3,), 2, members=3, hidden=(5, 4)).train(), torch.randn(rows, 3)
    answers = ensemble(x)
    assert answers.shape == (rows, 2)
    dealt = -(-rows // 3)
    for row in range(rows):
        assert torch.allclose(answers[row], alone(ensemble, row // dealt)(x[row : row + 1])[0], atol=1e-6)


def test_new_weights_are_drawn_for_a_fresh_copy():
    ensemble = Ensemble((3,), 2)
    fresh = copy.deepcopy(ensemble)
    fresh.reset_parameters()
    assert all(not torch.equal(a, b) for a, b in zip(ensemble.weights, fresh.weights, strict=True))


def test_an_image_is_flattened():
    assert Ensemble((2, 3), 4).eval()(torch.randn(5, 2, 3)).shape == (5, 4)


def test_a_resized_ensemble_is_a_new_one_of_that_size():
    ensemble = Ensemble((3,), 2, members=4)
    before = [weight.clone() for weight in ensemble.weights]
    ensemble.resize(50)
    assert ensemble(torch.randn(5, 50)).shape == (5, 2)
    assert ensemble.weights[0].std().item() == pytest.approx((2 / 50) ** 0.5, rel=0.05)
    assert not torch.equal(ensemble.weights[1], before[1])


def test_a_resized_network_has_a_new_first_layer():
    network = MLP((3,), 2)
    before = network.layers[2].weight.clone()
    network.resize(50)
    assert network(torch.randn(5, 50)).shape == (5, 2)
    assert torch.equal(network.layers[2].weight, before)
