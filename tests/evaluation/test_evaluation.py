"""Which rows each evaluator is applied to, and how measures are read."""

from dataclasses import replace

import pytest
import torch

import lexplain as lx
from lexplain.core import Explanation
from lexplain.evaluation import Callables, Evaluation, Evaluator, Evaluators, Others, Run
from lexplain.masks import FixedRate
from lexplain.measures import MEASURES, Measure, bootstrap, estimates, means, values_of
from lexplain.models import Problem
from lexplain.training import fabric_of

X = torch.randn(90, 3, generator=torch.Generator().manual_seed(0)).numpy()
FEATURES = lx.Columns().fit(X)
PROBLEM = Problem.of(X, (X[:, 0] > 0).astype(int), None, FEATURES)
ROWS, OTHER = PROBLEM.batch().take(slice(0, 50)), PROBLEM.batch().take(slice(50, 90))
MASK = torch.tensor([True, False, False]).expand(50, 3)


@pytest.fixture(autouse=True)
def _idle_judges(short_judges):
    short_judges(judge=3, reader=3)


def made(others=None, **more):
    target = replace(PROBLEM.target, values=PROBLEM.target.values[:50])
    evaluators = Evaluators(FEATURES, target.outputs, seed=1)
    return Evaluation(
        Explanation(MASK.float(), MASK, FEATURES.names), FEATURES, ROWS, target, Run(fabric_of("cpu"), 2), evaluators, others, **more
    )


def explained():
    return torch.ones(40, 3), torch.ones(40, 3).bool()


def texts(rows):
    return {tuple(row) for row in rows.tolist()}


@pytest.mark.parametrize("others", [None, Others(OTHER), Others(OTHER, explained)])
def test_no_evaluator_is_applied_to_its_training_rows(monkeypatch, others):
    seen, fit = {}, Evaluator.fit

    def watched(self, train, validation, **settings):
        seen[id(self)] = texts(torch.cat([train.x, validation.x]))
        return fit(self, train, validation, **settings)

    monkeypatch.setattr(Evaluator, "fit", watched)
    evaluated = []
    for evaluator, at, x, _, _ in made(others).few_at_a_time(FixedRate):
        assert not seen[id(evaluator)] & texts(x)
        assert others is None or seen[id(evaluator)] == texts(OTHER.x)
        evaluated += at.tolist()
    assert sorted(evaluated) == list(range(50))
    assert len(seen) == (2 if others is None else 1)


def test_other_rows_are_explained_once_and_only_where_their_masks_are_read():
    calls = []
    evaluation = made(Others(OTHER, lambda: calls.append(1) or explained()))
    assert evaluation.evaluator_prediction.shape == (50, 2) and not calls
    (fold,) = evaluation.folds
    assert evaluation.encoding.shape == MEASURES["mask_only_acc"].values(evaluation).shape == (50,) and calls == [1]
    assert fold.learn is OTHER and fold.eval_rows.tolist() == list(range(50))


def test_where_other_rows_are_not_explained_readers_learn_from_the_other_half(monkeypatch):
    evaluation = made(Others(OTHER))
    one, two = evaluation.folds
    assert texts(one.learn.x) == texts(ROWS.x[two.eval_rows]) and texts(two.learn.x) == texts(ROWS.x[one.eval_rows])
    learned = []
    fit = Evaluator.fit
    monkeypatch.setattr(Evaluator, "fit", lambda self, *parts, **more: learned.append(1) or fit(self, *parts, **more))
    assert evaluation.encoding.shape == (50,)
    assert learned == [1]  # one evaluator for both


def test_results_do_not_depend_on_the_batch_size():
    whole, parts = made(), replace(made(), run=Run(fabric_of("cpu"), 2, max_rows=7))
    assert torch.allclose(whole.evaluator_prediction, parts.evaluator_prediction, atol=1e-6)
    assert torch.equal(whole.labels, ROWS.target.probs.argmax(1))


def test_each_measure_draws_from_the_seed_of_the_run():
    drawn = Measure("drawn", "Drawn", lambda e: torch.rand(len(e.rows)), None, "")
    evaluation, state = made(), torch.get_rng_state()
    first = values_of(evaluation, [drawn])
    twice = values_of(evaluation, [replace(drawn, key="before"), drawn])
    assert torch.equal(first["drawn"], twice["drawn"]) and torch.equal(twice["before"], twice["drawn"])
    assert torch.equal(torch.get_rng_state(), state)
    other = values_of(replace(evaluation, run=replace(evaluation.run, seed=3)), [drawn])
    assert not torch.equal(first["drawn"], other["drawn"])


def test_means_and_estimates_are_of_the_same_values_and_leave_out_what_is_not_there():
    evaluation = made(callables=Callables(), truth=MASK)
    keys = ("kept", "tpr", "fdr", "cfsr", "fs_m", "eacc")
    found, measures = means(evaluation, keys), [MEASURES[key] for key in keys]
    assert set(found) == {"kept", "tpr", "fdr", "eacc"} == set(estimates(evaluation, measures))
    for key, values in values_of(evaluation, measures).items():
        assert found[key] == float(values.mean())
        assert estimates(evaluation, measures)[key] == bootstrap(values)
