"""What every predictor promises: (filled rows, raw mask) to a distribution of one target a row."""

import pytest
import torch
from torch import nn
from torch.distributions import Categorical, Normal

from lexplain.core import Classes, RealValue
from lexplain.models import BlackBox, Frozen, Trained
from lexplain.networks import mlp

COUNT, CLASSES = 4, 3
CLASSIFY, REGRESS = Classes(CLASSES), RealValue()


def numbers(outputs):
    """A network with everything that behaves differently in training."""
    return nn.Sequential(nn.Linear(COUNT, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, outputs.count))


def answers(outputs):
    def function(rows):
        scores = torch.as_tensor(rows, dtype=torch.float32) @ torch.linspace(-1, 1, COUNT * outputs.count).reshape(COUNT, -1)
        return scores[:, 0].numpy() if outputs.real else scores.softmax(-1).numpy()

    return function


PREDICTORS = {
    "trained": lambda outputs: Trained(mlp((COUNT,), outputs.count, sees_mask=False), outputs, sees_mask=False),
    "trained, sees the mask": lambda outputs: Trained(mlp((COUNT,), outputs.count, sees_mask=True), outputs, sees_mask=True),
    "frozen": lambda outputs: Frozen(numbers(outputs), outputs, to_raw=lambda x: 2 * x + 1),
    "frozen probabilities": lambda outputs: Frozen(
        nn.Sequential(numbers(outputs), nn.Identity() if outputs.real else nn.Softmax(-1)), outputs, to_raw=lambda x: x, probabilities=True
    ),
    "black box": lambda outputs: BlackBox(answers(outputs), outputs, decode=lambda x: x.detach().numpy()),
}


@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("outputs", [CLASSIFY, REGRESS], ids=["classes", "real"])
@pytest.mark.parametrize("name", PREDICTORS)
def test_predicts_one_distribution_a_row(name, outputs, n):
    predictor = PREDICTORS[name](outputs).eval()
    for mask in (torch.rand(n, COUNT) < 0.5, torch.rand(n, COUNT)):
        predicted = predictor(torch.randn(n, COUNT), mask)
        assert isinstance(predicted, Normal if outputs.real else Categorical)
        assert predicted.batch_shape == (n,)
        assert predicted.mean.shape == (n,) if outputs.real else predicted.probs.shape == (n, CLASSES)
        assert predictor.outputs is outputs


@pytest.mark.parametrize("outputs", [CLASSIFY, REGRESS], ids=["classes", "real"])
@pytest.mark.parametrize("name", PREDICTORS)
def test_a_row_is_predicted_alone(name, outputs):
    predictor, x, mask = PREDICTORS[name](outputs).eval(), torch.randn(6, COUNT), torch.rand(6, COUNT) < 0.5
    together, alone = predictor(x, mask), predictor(x[2:3], mask[2:3])
    value = (lambda p: p.mean) if outputs.real else (lambda p: p.probs)
    assert torch.allclose(value(together)[2:3], value(alone), atol=1e-6)


@pytest.mark.parametrize("name", ["trained", "trained, sees the mask"])
def test_trained_learns_from_filled_rows(name):
    predictor = PREDICTORS[name](CLASSIFY)
    x, mask = torch.randn(7, COUNT).requires_grad_(), torch.rand(7, COUNT).requires_grad_()
    predictor(x, mask).probs[:, 0].sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in predictor.parameters())
    assert x.grad.abs().sum() > 0
    assert (mask.grad is not None) == ("mask" in name)


def test_the_mask_tells_off_from_zero():
    x = torch.zeros(1, COUNT)
    sees, blind = PREDICTORS["trained, sees the mask"](CLASSIFY), PREDICTORS["trained"](CLASSIFY)
    on, off = torch.ones(1, COUNT).bool(), torch.zeros(1, COUNT).bool()
    assert not torch.allclose(sees(x, on).probs, sees(x, off).probs)
    assert torch.equal(blind(x, on).probs, blind(x, off).probs)


def test_the_mask_comes_after_the_input():
    seen = []

    class Spy(nn.Module):
        def forward(self, joined):
            seen.append(joined)
            return torch.zeros(len(joined), CLASSES)

    x, mask = torch.randn(5, COUNT), torch.rand(5, COUNT) < 0.5
    Trained(Spy(), CLASSIFY, sees_mask=True)(x, mask)
    assert torch.equal(seen[0], torch.cat([x, mask.float()], 1))
    images = torch.randn(5, 3, 2, 2)
    Trained(Spy(), CLASSIFY, sees_mask=True)(images, torch.ones(5, 3, 2, 2).bool())
    assert seen[1].shape == (5, 6, 2, 2)  # beside the channels


@pytest.mark.parametrize("name", ["frozen", "frozen probabilities"])
def test_frozen_stays_as_it_is(name):
    predictor = PREDICTORS[name](CLASSIFY)
    before = {key: value.clone() for key, value in predictor.state_dict().items()}
    nn.ModuleList([predictor]).train().requires_grad_(True)  # as a training loop does
    predictor.train()
    predictor.requires_grad_(True)
    assert not any(module.training for module in predictor.modules())
    x = torch.randn(9, COUNT).requires_grad_()
    first, second = predictor(x, torch.ones(9, COUNT)), predictor(x, torch.ones(9, COUNT))
    assert torch.equal(first.probs, second.probs)  # no dropout
    first.probs[:, 0].sum().backward()
    assert x.grad.abs().sum() > 0  # gradients flow to the input, and so to the mask
    assert all(torch.equal(value, before[key]) for key, value in predictor.state_dict().items())  # no moving statistics


@pytest.mark.parametrize("name", ["frozen", "frozen probabilities"])
def test_frozen_gets_no_gradients(name):
    predictor = PREDICTORS[name](CLASSIFY)
    predictor.train().requires_grad_(True)
    predictor(torch.randn(9, COUNT).requires_grad_(), torch.ones(9, COUNT)).probs[:, 0].sum().backward()
    assert all(p.grad is None for p in predictor.parameters())


def test_frozen_sees_raw_units_and_no_mask():
    seen = []

    class Spy(nn.Module):
        def forward(self, raw):
            seen.append(raw)
            return torch.zeros(len(raw), CLASSES)

    x = torch.randn(5, COUNT)
    Frozen(Spy(), CLASSIFY, to_raw=lambda x: 10 * x + 3)(x, torch.zeros(5, COUNT))
    assert torch.equal(seen[0], 10 * x + 3)


def test_probabilities_and_logits_are_told_apart():
    logits = torch.tensor([[2.0, 0.0, -1.0]])

    class Fixed(nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def forward(self, raw):
            return self.value

    as_logits = Frozen(Fixed(logits), CLASSIFY, to_raw=lambda x: x)(torch.zeros(1, COUNT), None).probs
    as_probabilities = Frozen(Fixed(logits.softmax(-1)), CLASSIFY, to_raw=lambda x: x, probabilities=True)(
        torch.zeros(1, COUNT), None
    ).probs
    assert torch.allclose(as_logits, logits.softmax(-1))
    assert torch.allclose(as_probabilities, logits.softmax(-1))


@pytest.mark.parametrize("sees_mask", [True, False])
def test_the_default_network_has_two_layers_of_200(sees_mask):
    network = mlp((2, 3), 4, sees_mask=sees_mask)
    sizes = [(layer.in_features, layer.out_features) for layer in network if isinstance(layer, nn.Linear)]
    assert sizes == [(12 if sees_mask else 6, 200), (200, 200), (200, 4)]
    assert sum(isinstance(layer, nn.SiLU) for layer in network) == 2
    papers = mlp((2, 3), 4, sees_mask=sees_mask, activation=nn.ReLU)
    assert sum(isinstance(layer, nn.ReLU) for layer in papers) == 2
    assert network(torch.randn(5, 4 if sees_mask else 2, 3)).shape == (5, 4)
    assert [layer.out_features for layer in mlp((3,), 2, sees_mask=False, hidden=(7,)) if isinstance(layer, nn.Linear)] == [7, 2]
