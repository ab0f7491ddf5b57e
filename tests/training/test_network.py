"""The one trainer of plain networks."""

import pytest
import torch
from torch import nn

from lexplain.core import Batch, as_target
from lexplain.core.splits import tenth
from lexplain.methods import Step
from lexplain.training import network, train_network

X = torch.randn(300, 3, generator=torch.Generator().manual_seed(0))
ROWS = Batch(X, as_target(torch.eye(2)[(X[:, 0] > 0).long()], real=False))


def classifier():
    torch.manual_seed(0)
    module = nn.Linear(3, 2)
    return module, Step("net", module, lambda t: loss(module, t), lambda t: loss(module, t), model_rows_per_row=2)


def loss(module, batch):
    return -(batch.target.probs * module(batch.x).log_softmax(1)).sum(1).mean()


def test_a_network_learns_and_rests():
    module, step = classifier()
    assert train_network(module, step, tenth(ROWS, 0), steps=300, learning_rate=0.05) is module
    assert (module(X).argmax(1) == (X[:, 0] > 0)).double().mean() > 0.95
    assert not module.training
    assert not any(weight.requires_grad for weight in module.parameters())


@pytest.mark.parametrize(("patient", "patience"), [(False, 54), (True, None)])
def test_it_makes_about_as_many_steps_as_it_is_told(patient, patience, monkeypatch):
    seen = []
    monkeypatch.setattr(network, "fit", lambda module, phases, train, validation, settings, fabric: seen.append((phases, settings)))
    module, step = classifier()
    train_network(module, step, tenth(ROWS, 0), steps=1850, warmup_steps=7, patient=patient, max_rows=50, seed=3)
    ((phase,), settings) = seen[0]
    assert phase.steps == (step,)
    assert (settings.batch_size, settings.epochs) == (32, 219)  # 270 rows: 1850 steps of 32
    assert (settings.warmup_steps, settings.max_rows, settings.seed, settings.patience) == (7, 50, 3, patience)
