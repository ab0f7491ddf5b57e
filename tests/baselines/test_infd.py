"""The explanation of least infidelity."""

import numpy as np
import pytest
import torch

from lexplain.baselines import Infidelity

X = np.random.default_rng(0).normal(3, [1, 2, 5], size=(50, 3))
WEIGHT = np.array([1.0, -2.0, 0.5])


def test_of_a_linear_model_it_is_the_slope():
    e = Infidelity().fit(X, model=lambda rows: rows @ WEIGHT).explain(X[:9])
    assert torch.allclose(e.scores.double(), torch.tensor(WEIGHT * X.std(0)).expand(9, 3), atol=1e-4)


def curved(rows):
    likely = 1 / (1 + np.exp(-(rows[:, 0] - 3) * (rows[:, 1] - 3) - rows[:, 2] + 3))
    return np.stack([likely, 1 - likely], 1)


def test_it_is_the_least_squares_of_the_definition():
    explainer = Infidelity(draws=300, noise=0.3).fit(X, model=curved)
    e = explainer.explain(X[:4])
    assert explainer.noisy_.std() == pytest.approx(0.3, rel=0.1)
    answers = curved((explainer.noisy_.numpy() * X.std(0)) + X.mean(0))
    for row, (scores, asked) in enumerate(zip(e.scores, e.target_index, strict=True)):
        move = (X[row] - X.mean(0)) / X.std(0) - explainer.noisy_.numpy()  # (m, d)
        falls = curved(X[row : row + 1])[0, asked] - answers[:, asked]
        assert scores.tolist() == pytest.approx(np.linalg.lstsq(move, falls, rcond=None)[0].tolist(), abs=1e-4)


def test_the_model_is_asked_for_the_noisy_rows_once():
    explainer = Infidelity(draws=300).fit(X, model=curved)
    assert explainer.model_rows_ == 50 + 300
    explainer.explain(X[:9])
    assert explainer.model_rows_ == 50 + 300 + 9
