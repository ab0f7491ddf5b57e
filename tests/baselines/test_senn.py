"""SENN explains itself."""

import numpy as np
import pytest
import torch

from lexplain.baselines import SENN
from lexplain.core import Batch, as_target

X = np.random.default_rng(0).normal(3, [1, 2, 5], size=(300, 3))
WEIGHT = np.array([2.0, -1.0, 0.05])
KIND = np.where((X - X.mean(0)) @ WEIGHT > 0, "yes", "no")


def linear(rows):
    return rows @ WEIGHT + 7


def test_scores_and_the_bias_add_up_to_the_prediction():
    explainer = SENN(steps=50).fit(X, model=linear)
    e = explainer.explain(X[:9])
    scale, mean = explainer.target_.scale, explainer.target_.mean
    assert torch.allclose(e.scores.sum(1) + explainer.network_.bias.item() * scale + mean, e.prediction[:, 0], atol=1e-3)


def test_of_a_linear_model_it_learns_the_terms():
    e = SENN(steps=500, smooth=1.0).fit(X, model=linear).explain(X[:100])
    exact = torch.tensor(WEIGHT * (X[:100] - X.mean(0)))
    assert (e.scores - exact).abs().mean() < 0.15 * exact.abs().mean()
    assert np.allclose(e.prediction[:, 0], linear(X[:100]), atol=0.5)


def test_it_learns_labels_and_predicts_them():
    explainer = SENN(steps=300).fit(X, KIND)
    e = explainer.explain(X)
    assert e.classes == ("no", "yes")
    assert explainer.model_rows_ == 0
    assert torch.allclose(e.prediction.sum(1), torch.ones(300), atol=1e-5)
    assert (np.array(e.classes)[e.prediction.argmax(1)] == KIND).mean() > 0.95
    assert torch.equal(e.target_index, e.prediction.argmax(1))


def test_the_penalty_is_the_distance_of_the_weights_from_the_slopes():
    explainer = SENN(steps=5, smooth=3.0).fit(X, KIND)
    x = explainer.features_.encode(X[:6]).x
    batch = Batch(x, as_target(torch.eye(2)[[0, 1, 1, 0, 1, 0]], False))
    apart = 0.0
    for row in x:
        slopes = torch.autograd.functional.jacobian(lambda r: explainer.network_(r[None])[0][0], row)  # (c, D)
        apart += float((slopes.T - explainer.network_(row[None])[1][0]).square().sum()) / 6
    assert float(explainer._loss(batch).detach()) == pytest.approx(float(explainer._misfit(batch)) + 3 * apart, rel=1e-4)
    assert apart > 1e-3


def test_a_price_makes_weights_more_like_slopes():
    def gap(smooth):
        explainer = SENN(steps=200, smooth=smooth).fit(X, KIND)
        batch = Batch(explainer.features_.encode(X).x, explainer_target(explainer))
        explainer.smooth = 1.0
        return float((explainer._loss(batch) - explainer._misfit(batch)).detach())

    assert gap(1.0) < 0.5 * gap(0.0)


def explainer_target(explainer):
    return as_target(explainer.target_.values, False)


def test_neither_labels_nor_a_model():
    with pytest.raises(ValueError, match=r"senn .*a model or labels"):
        SENN().fit(X)
