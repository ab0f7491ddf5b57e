"""Evaluators are trained once each, shared, and kept in files."""

import pytest
import torch
from torch import nn

import lexplain as lx
from lexplain.core import Classes
from lexplain.core.splits import first_tenth, tenth
from lexplain.evaluation import Evaluator, Evaluators, train_evaluator
from lexplain.masks import FixedRate, UniformRate
from lexplain.models import Problem

X = torch.randn(60, 3, generator=torch.Generator().manual_seed(0)).numpy()
FEATURES, OUTPUTS = lx.Columns().fit(X), Classes(2)
ROWS = Problem.of(X, (X[:, 0] > 0).astype(int), None, FEATURES).batch()
SEED = 5


@pytest.fixture
def learned(monkeypatch):
    """The rows of each training that took place."""
    found, fit = [], Evaluator.fit

    def watched(self, train, validation, **settings):
        found.append((train.x, validation.x))
        return fit(self, train, validation, **settings)

    monkeypatch.setattr(Evaluator, "fit", watched)
    return found


def made(**settings):
    return Evaluators(FEATURES, OUTPUTS, seed=SEED, steps=5, **settings)


def prediction_of(evaluator):
    return evaluator.probabilities(ROWS.x, torch.ones(len(ROWS), FEATURES.count).bool())


def test_an_evaluator_is_trained_once_for_its_rows_and_its_masks(learned):
    evaluators = made()
    first = evaluators.of(ROWS)
    assert evaluators.of(ROWS, FixedRate) is first
    others = [evaluators.of(ROWS, UniformRate), evaluators.of(ROWS, fold=1)]
    assert len(learned) == 3 and first not in others
    assert others[0].masks is UniformRate


def test_rows_of_its_own_come_before_those_given(learned):
    evaluators = made(rows=ROWS.take(slice(0, 40)))
    assert evaluators.of(ROWS) is evaluators.of() is evaluators.of(ROWS, fold=1)
    ((train, held),) = learned
    assert len(train) + len(held) == 40


def test_it_is_the_evaluator_of_its_seed_and_of_a_tenth_sampled_by_it():
    by_hand = train_evaluator(FEATURES, OUTPUTS, *tenth(ROWS, SEED), steps=5, seed=SEED)
    state = torch.get_rng_state()
    assert torch.equal(prediction_of(made().of(ROWS)), prediction_of(by_hand))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_split_and_the_network_are_those_given(learned):
    evaluator = made(split=first_tenth, network=lambda: nn.Linear(2 * FEATURES.count, 2)).of(ROWS)
    assert isinstance(evaluator.predictor.network, nn.Linear)
    ((train, held),) = learned
    assert torch.equal(held, ROWS.x[:6]) and torch.equal(train, ROWS.x[6:])


def test_an_evaluator_is_read_from_the_file_of_its_masks(tmp_path, learned):
    def file(masks):
        return tmp_path / "evaluators" / masks.__name__

    first = made(file=file).of(ROWS)
    again = made(file=file).of(ROWS)
    assert len(learned) == 1 and torch.equal(prediction_of(first), prediction_of(again))
    assert not again.training and not any(weights.requires_grad for weights in again.parameters())
    made(file=file).of(ROWS, UniformRate)
    assert len(learned) == 2 and {path.name for path in (tmp_path / "evaluators").iterdir()} == {"FixedRate", "UniformRate"}
