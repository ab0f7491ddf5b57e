"""Sanity checks: alike and unalike explanations, and models without what they learned."""

import pytest
import torch
from torch import nn

from lexplain.metrics.sanity import mask_cosine, permuted, rank_correlation
from lexplain.training.reinitialise import cascade, parametrised, reinitialised


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


def test_cosine_by_hand():
    mask = torch.tensor([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]).bool()
    other = torch.tensor([[1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]).bool()
    assert mask_cosine(mask, other).tolist() == [0.5, 0, 0.5, 1, 0]


def test_chance_is_the_share_kept():
    draw = torch.Generator().manual_seed(0)
    masks = [torch.rand(4000, 20, generator=draw).argsort(1) < 3 for _ in range(2)]
    assert mask_cosine(*masks).mean().item() == pytest.approx(3 / 20, abs=0.01)


def test_rank_correlation_by_hand():
    scores = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    other = torch.tensor([[10.0, 20.0, 99.0], [3.0, 2.0, 1.0], [2.0, 1.0, 3.0]])
    assert rank_correlation(scores, other).tolist() == pytest.approx([1, -1, 0.5])


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


def test_drawing_anew_leaves_the_callers_random_state_alone():
    model = nn.Linear(2, 2)
    state = torch.get_rng_state()
    reinitialised(model)
    assert torch.equal(state, torch.get_rng_state())


def test_a_cascade_goes_from_the_output_down():
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 3)), nn.Linear(3, 2))
    before = weights(model)
    assert parametrised(model) == ["0", "2.0", "3"]
    layers = [(name, {n.rpartition(".")[0] for n in moved(before, weights(fresh))}) for name, fresh in cascade(model)]
    assert layers == [("3", {"3"}), ("2.0", {"2.0", "3"}), ("0", {"0", "2.0", "3"})]
    assert not moved(before, weights(model))


def test_permuted_labels_are_as_many_of_each_and_none_about_its_row():
    labels = torch.arange(1000) % 4
    dealt = permuted(labels, generator=torch.Generator().manual_seed(0))
    assert torch.equal(dealt.bincount(), labels.bincount())
    assert (dealt == labels).double().mean().item() == pytest.approx(0.25, abs=0.06)
    assert torch.equal(dealt, permuted(labels, generator=torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("measure", [mask_cosine, rank_correlation], ids=lambda m: m.__name__)
def test_refuses_other_rows(measure):
    with pytest.raises(ValueError, match="cannot be paired"):
        measure(torch.zeros(2, 3), torch.zeros(3, 3))
