from functools import partial

import pytest
import torch
from torch import nn

from lexplain.masks import Bernoulli, ConcreteMax, TopK
from lexplain.networks import MLP, Selector

FAMILIES = {
    "coins": lambda logits, valid: Bernoulli(logits, valid),
    "top k": lambda logits, valid: TopK(logits, 2, valid),
    "concrete max": lambda logits, valid: ConcreteMax(logits, 2, valid),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_selector_returns_a_distribution_over_masks(family):
    selector, x = Selector(MLP((5,), 4), FAMILIES[family]), torch.randn(6, 5)
    p = selector(x)
    assert p.sample((3,)).shape == (3, 6, 4)
    assert torch.equal(p.logits, selector.logits(x))
    p.relaxed().pow(2).sum().backward()
    assert all(w.grad is not None for w in selector.parameters())


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_reaches_the_masks(family):
    valid = torch.tensor([True, True, True, False]).expand(6, -1)
    p = Selector(MLP((5,), 4), FAMILIES[family])(torch.randn(6, 5), valid=valid)
    assert not p.sample((100,))[..., 3].any()


def test_the_offset_moves_every_score_and_is_saved():
    selector, x = Selector(MLP((5,), 4), partial(Bernoulli)), torch.randn(6, 5)
    before = selector.logits(x)
    selector.offset.fill_(2.0)
    assert torch.allclose(selector.logits(x), before + 2)
    assert torch.allclose(selector(x).logits, before + 2)
    other = Selector(MLP((5,), 4), partial(Bernoulli))
    other.load_state_dict(selector.state_dict())
    assert torch.equal(other.logits(x), selector.logits(x))
    assert "offset" not in dict(selector.named_parameters())  # set after training, not learned


def test_the_context_is_used_and_handed_over_only_where_there_is_one():
    network = MLP((5,), 4, context=3)
    selector, x = Selector(network, partial(Bernoulli)), torch.randn(6, 5)
    one, two = selector.logits(x, torch.zeros(6, 3)), selector.logits(x, torch.ones(6, 3))
    assert not torch.allclose(one, two)
    plain = nn.Linear(5, 4)  # takes x alone
    assert torch.equal(Selector(plain, partial(Bernoulli)).logits(x), plain(x))


def test_the_default_network_has_three_layers_of_200():
    sizes = [(layer.in_features, layer.out_features) for layer in MLP((2, 3), 4, context=1).layers if isinstance(layer, nn.Linear)]
    assert sizes == [(7, 200), (200, 200), (200, 200), (200, 4)]
    assert MLP((2, 3), 4)(torch.randn(5, 2, 3)).shape == (5, 4)
    assert [layer.out_features for layer in MLP((3,), 2, hidden=(7,)).layers if isinstance(layer, nn.Linear)] == [7, 2]


def test_a_row_is_scored_alone():
    selector, x = Selector(MLP((5,), 4), partial(Bernoulli)), torch.randn(6, 5)
    assert torch.allclose(selector.logits(x)[2], selector.logits(x[2:3])[0], atol=1e-6)


def test_scores_of_every_row_are_brought_to_the_spread_and_keep_their_order():
    network, x = MLP((5,), 40), torch.randn(6, 5)
    free, tied = Selector(network, FAMILIES["top k"]), Selector(network, FAMILIES["top k"], spread=4.0)
    before, after = free.logits(x), tied.logits(1000 * x)
    assert torch.equal(before, network(x))
    torch.testing.assert_close(after.mean(1), torch.zeros(6), atol=1e-4, rtol=0)
    torch.testing.assert_close(after.std(1, correction=0), torch.full((6,), 4.0), atol=1e-3, rtol=0)
    assert torch.equal(tied.logits(x).argsort(1), before.argsort(1))


@pytest.mark.parametrize("level", [False, True])
def test_padding_has_no_part_in_the_spread(level):
    class Padded(nn.Module):
        """A network that says the same of the first columns, and something loud of the others."""

        def __init__(self, network):
            super().__init__()
            self.network = network

        def forward(self, x):
            return torch.cat([self.network(x), 100 + 50 * torch.randn(len(x), 3)], 1)

    network, x = MLP((5,), 4), torch.randn(6, 5)
    valid = torch.ones(6, 7).bool()
    valid[:, 4:] = False
    plain, padded = (Selector(made, FAMILIES["coins"], spread=3.0, offset=0.5, level=level) for made in (network, Padded(network)))
    assert torch.allclose(padded.logits(x, valid=valid)[:, :4], plain.logits(x), atol=1e-5)
    assert torch.allclose(padded(x, valid=valid).mean[:, :4], plain(x).mean, atol=1e-5)
    assert torch.allclose(plain.logits(x, valid=valid[:, :4]), plain.logits(x), atol=1e-5)
    nothing = padded.logits(x, valid=torch.zeros(6, 7).bool())
    assert nothing.isfinite().all()
    (slope,) = torch.autograd.grad(padded.logits(x, valid=valid)[:, :4].pow(3).sum(), network.layers[-1].bias)
    assert slope.isfinite().all()


def test_scores_of_half_precision_are_read_in_full():
    selector = Selector(MLP((5,), 4).bfloat16(), FAMILIES["top k"])
    assert selector.logits(torch.randn(6, 5).bfloat16()).dtype == torch.float32
    assert Selector(MLP((5,), 4).double(), FAMILIES["top k"]).logits(torch.randn(6, 5).double()).dtype == torch.float64
