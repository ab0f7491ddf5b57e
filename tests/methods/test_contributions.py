"""Contributions along random paths: against enumerated Shapley values and a linear model, whose contributions are known."""

import sys
import time
from itertools import permutations

import numpy as np
import pytest
import torch

import lexplain as lx
from lexplain.core import Batch, RealValue, as_target, seeded
from lexplain.explainers import FitWarning
from lexplain.features import Columns
from lexplain.methods import METHODS, Parts
from lexplain.methods.contributions import MODEL_ROWS, affordable_rows

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 4))
WEIGHTS = np.array([1.5, -1, 0.5, 0])


def linear(rows):
    p = 1 / (1 + np.exp(-np.asarray(rows) @ WEIGHTS))
    return np.stack([1 - p, p], 1)


def fitted(model=linear, **settings):
    return lx.Explainer("contributions", **{"epochs": 30, "options": {"model_rows": 40_000}, **settings}).fit(X, model=model)


def test_steps_of_paths_are_shapley_values_on_average():
    features = Columns().fit(X[:, :3])
    rows, background = features.encode(X[:4, :3]).x, features.encode(X[4:7, :3]).x

    def curved(x):  # with interactions
        value = x[:, 0] * x[:, 1] + x[:, 2].exp() + x[:, 0]
        return value[:, None]

    method = METHODS["contributions"](features, RealValue(), Parts())
    plan = method.plan.__class__(curved, 1000)
    exact = torch.zeros(4, 3)
    orders = list(permutations(range(3)))
    for other in background:
        for order in orders:
            current = other.expand(4, -1).clone()
            for j in order:
                before = curved(current)[:, 0]
                current[:, j] = rows[:, j]
                exact[:, j] += (curved(current)[:, 0] - before) / len(orders) / len(background)
    batch = Batch(rows, as_target(torch.zeros(4), True), context=torch.zeros(4, 1))
    with seeded(0):
        paths = [plan._contributions(method, batch, background) for _ in range(4000)]
    assert torch.allclose(torch.stack(paths).mean(0), exact, atol=0.1)
    total = curved(rows) - curved(background).T  # every path adds up to the difference of its two ends
    gaps = (torch.stack(paths[:50]).sum(2)[:, :, None] - total).abs().amin(2)
    assert gaps.max() < 1e-4


def test_a_linear_model_is_explained_by_its_weights():
    explainer = fitted(epochs=150)
    context = torch.as_tensor(linear(X), dtype=torch.float32)
    learned = explainer.method_.selector.network.signed(explainer.features_.encode(X).x, context)
    known = WEIGHTS * (X - X.mean(0)) * np.where(linear(X)[:, 1:] > 0.5, 1, -1)  # for the predicted class
    assert np.corrcoef(learned[:, :3].flatten(), known[:, :3].flatten())[0, 1] > 0.9
    assert learned[:, 3].abs().mean() < 0.2  # this column has no weight
    e = explainer.explain(X, verify=True)
    assert e.mask[:, 0].double().mean() > e.mask[:, 1].double().mean() > e.mask[:, 2].double().mean()
    assert e.holds.min() >= 0.95 and e.mask[:, 3].double().mean() < 0.1


def test_real_values_are_ordered_by_absolute_contribution():
    explainer = fitted(lambda rows: 100 + np.asarray(rows) @ WEIGHTS, epochs=100)
    scores = explainer.explain(X).scores
    first = np.abs(WEIGHTS * (X - X.mean(0))).argmax(1)
    assert (scores.argmax(1).numpy() == first).mean() > 0.85


@pytest.mark.parametrize("budget", [2_000, 5_001, 30_000])
def test_no_more_rows_are_queried_than_allowed_and_the_same_seed_gives_the_same_fit(budget):
    one, other = (fitted(epochs=2, options={"model_rows": budget}) for _ in range(2))
    assert 0.7 * budget <= one.model_rows_ - len(X) <= budget  # and the training rows once
    assert one.explain(X[:20]) == other.explain(X[:20])


def test_a_slow_model_is_queried_less_and_the_fit_says_so(monkeypatch):
    monkeypatch.setattr(sys.modules["lexplain.methods.contributions"], "MOST_SECONDS", 0.3)  # the package's name is that of the recipe

    def slow(rows):
        time.sleep(1e-4 * len(rows))
        return linear(rows)

    with pytest.warns(FitWarning, match="the model is slow: it was queried on"):
        explainer = fitted(slow, epochs=1, options=None)
    assert explainer.model_rows_ < 5_000 and any("slow" in finding for finding in explainer.findings_)


def test_the_affordable_number_is_a_power_of_two():
    assert affordable_rows(None) == affordable_rows(1e-7) == MODEL_ROWS
    assert affordable_rows(1e-3) == 2**14 and affordable_rows(100.0) == 1


def test_what_is_not_a_number_of_rows_is_an_error():
    with pytest.raises(ValueError, match="model_rows must be a positive integer"):
        fitted(options={"model_rows": 0})
