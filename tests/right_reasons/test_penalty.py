"""The loss of "right for the right reasons" against closed forms and finite differences (methods of Ross et al., 2017)."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lexplain.right_reasons.penalty import PenaltySettings, explained_output, input_gradients, loss_terms, right_reasons_loss

VARIANTS = [("log", "sum"), ("log", "max"), ("log", "label"), ("log", 1), ("linear", "max"), ("linear", "label"), ("linear", 0)]


def rows(n=6, d=4, c=3, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=draw), torch.randint(c, (n,), generator=draw), torch.rand(n, d, generator=draw) < 0.5


def net(d=4, c=3, seed=0, act=nn.Tanh):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(d, 5), act(), nn.Linear(5, c)).double()


def test_slopes_of_a_linear_softmax_model_are_the_closed_form():
    x, _, _ = rows()
    linear = nn.Linear(4, 3)
    slopes, output = input_gradients(linear, x)
    p, weights = output.softmax(1), linear.weight  # (n, c), (c, d)
    assert torch.allclose(slopes, weights.sum(0) - 3 * p @ weights, atol=1e-6)  # sum_k W_k - C sum_k p_k W_k


@pytest.mark.parametrize(("scale", "target"), VARIANTS)
def test_slopes_match_finite_differences(scale, target):
    x, y, _ = rows()
    x, network, step = x.double(), net(), 1e-6
    slopes, _ = input_gradients(network, x, scale=scale, target=target, y=y)
    for j in range(4):
        moved = torch.zeros(4, dtype=torch.float64)
        moved[j] = step
        up, down = (explained_output(network(x + sign * moved), scale=scale, target=target, y=y) for sign in (1, -1))
        assert torch.allclose(slopes[:, j], (up - down) / (2 * step), atol=1e-6)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize(("scale", "target"), VARIANTS)
def test_gradient_of_the_penalty_matches_finite_differences(scale, target, normalise):
    x, y, mask = rows()
    x, network, step = x.double(), net(), 1e-6

    def reasons():
        return loss_terms(network, x, y, mask, PenaltySettings(scale, target, normalise)).gradient_penalty

    weights = network[0].weight
    (got,) = torch.autograd.grad(reasons(), weights)
    for i, j in [(0, 0), (1, 3), (4, 2)]:
        with torch.no_grad():
            weights[i, j] += step
            up = float(reasons().detach())
            weights[i, j] -= 2 * step
            down = float(reasons().detach())
            weights[i, j] += step
        assert float(got[i, j]) == pytest.approx((up - down) / (2 * step), abs=1e-6)


def test_the_penalty_of_a_linear_softmax_model_and_both_reductions():
    x, y, mask = rows()
    linear = nn.Linear(4, 3)
    slopes = linear.weight.sum(0) - 3 * linear(x).softmax(1) @ linear.weight
    total = (slopes[mask] ** 2).sum()
    assert torch.allclose(loss_terms(linear, x, y, mask).gradient_penalty, total / mask.sum())
    published = right_reasons_loss(linear, x, y, mask, strength=7.0, normalise=False) * len(x)
    assert torch.allclose(published, cross_entropy(linear(x), y, reduction="sum") + 7 * total)


def test_without_a_mark_it_is_the_plain_loss_with_one_forward_pass():
    x, y, _ = rows()
    network, seen = net().float(), []
    network.register_forward_hook(lambda *_: seen.append(1))
    for mask in (None, torch.zeros(6, 4), torch.zeros(6, 4, dtype=torch.bool)):
        seen.clear()
        assert torch.equal(right_reasons_loss(network, x, y, mask, strength=1e9), cross_entropy(network(x), y))
        assert len(seen) == 2  # one of the loss, one of the expectation


def test_only_annotated_rows_are_differentiated_twice():
    x, y, mask = rows()
    mask[[0, 2, 5]] = False
    network, sizes = net().float(), []
    network.register_forward_hook(lambda _, given, __: sizes.append((len(given[0]), given[0].requires_grad)))
    parts = loss_terms(network, x, y, mask)
    annotated = int(mask.any(1).sum())
    assert sorted(sizes) == sorted([(annotated, True), (6 - annotated, False)])
    whole = loss_terms(network, x, y, mask | torch.tensor([[True]]))  # all rows marked: one pass for all
    assert sizes[-1] == (6, True)
    assert torch.allclose(parts.prediction_loss, whole.prediction_loss)
    assert torch.allclose(parts.gradient_penalty, (input_gradients(network, x)[0][mask] ** 2).mean())


def test_a_network_that_normalises_over_the_batch_sees_its_rows_together():
    x, y, mask = rows(12)
    mask[:6] = False
    network = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3))
    plain = copy.deepcopy(network)
    assert torch.allclose(loss_terms(network, x, y, mask).prediction_loss, cross_entropy(plain(x), y))
    assert torch.allclose(network[1].running_mean, plain[1].running_mean)


def test_real_values_are_explained_by_themselves():
    x, _, mask = rows()
    linear, y = nn.Linear(4, 1), torch.randn(6)
    terms = loss_terms(linear, x, y, mask)
    assert torch.allclose(terms.gradient_penalty, (linear.weight.expand(6, 4)[mask] ** 2).mean())
    assert torch.allclose(terms.prediction_loss, ((linear(x)[:, 0] - y) ** 2).mean() / 2)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))])
def test_recurrent_networks_and_embedded_text(kind, device):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells, self.head = kind(3, 5, batch_first=True), nn.Linear(5, 2)

        def forward(self, x):
            return self.head(self.cells(x)[0][:, -1])

    network, x = Reader().to(device), torch.randn(4, 6, 3, device=device)
    mask = torch.zeros(4, 6, 3, dtype=torch.bool, device=device)
    mask[:, 2] = True
    right_reasons_loss(network, x, torch.tensor([0, 1, 0, 1], device=device), mask, strength=1.0).backward()
    assert all(bool(weights.grad.isfinite().all()) for weights in network.parameters())


def test_attention_can_be_differentiated_twice():
    class Attends(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), nn.Linear(8, 2)

        def forward(self, x):
            return self.head(self.layer(x).mean(1))

    network, x = Attends(), torch.randn(3, 5, 8)
    right_reasons_loss(network, x, torch.tensor([0, 1, 1]), torch.ones(3, 5, 8), strength=1.0).backward()
    assert float(network.layer.self_attn.in_proj_weight.grad.abs().sum()) > 0


def test_errors():
    x, y, mask = rows()
    with pytest.raises(ValueError, match="scale='log'"):
        right_reasons_loss(net().float(), x, y, mask, strength=1.0, scale="linear")
    with pytest.raises(ValueError, match=r"irrelevant_mask .*\(6, 3\)"):
        right_reasons_loss(net().float(), x, y, mask[:, :3], strength=1.0)
