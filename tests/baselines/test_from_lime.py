"""LIME's weights."""

import numpy as np
import pandas as pd
import pytest
import torch

from lexplain.baselines import LIME

pytest.importorskip("lime")

X = np.random.default_rng(0).normal(3, 1, size=(200, 3))


def test_the_weights_of_an_additive_model_have_its_signs_and_order():
    e = LIME(num_samples=3000).fit(X, model=lambda rows: 5 * rows[:, 0] - 2 * rows[:, 1]).explain(X[:20])
    high = torch.tensor(X[:20] > np.quantile(X, 0.75, axis=0))
    low = torch.tensor(X[:20] < np.quantile(X, 0.25, axis=0))
    for column, sign in ((0, 1), (1, -1)):
        assert high[:, column].any() and low[:, column].any()
        assert (e.scores[high[:, column], column] * sign > 1).all()
        assert (e.scores[low[:, column], column] * sign < -1).all()
    assert (e.scores[:, 2].abs() < 0.5).all()


def test_it_is_lime_itself():
    from lime.lime_tabular import LimeTabularExplainer

    def model(rows):
        likely = 1 / (1 + np.exp(-rows[:, 0] * rows[:, 1] + 9))
        return np.stack([1 - likely, likely], 1)

    plain = LimeTabularExplainer(X, feature_selection="none", random_state=4)
    plain.random_state.seed(4)
    found = dict(plain.explain_instance(X[0], model, labels=(1,), num_samples=100).local_exp[1])
    e = LIME(num_samples=100, random_state=4).fit(X, model=model).explain(X[:1], target=1)
    assert e.scores[0].tolist() == pytest.approx([found[j] for j in range(3)], abs=1e-3)


def test_categories_stay_categories():
    towns = pd.DataFrame({"town": pd.Categorical(np.where(X[:, 0] > 3, "Ghent", "Lund")), "age": X[:, 1].round().astype(int)})
    seen = []

    def model(rows):
        seen.append(rows.dtypes.tolist())
        return (rows["town"] == "Ghent").to_numpy(float) * 3 + 0.01 * rows["age"].to_numpy()

    e = LIME(num_samples=300).fit(towns, model=model).explain(towns[:10])
    assert all(dtypes == towns.dtypes.tolist() for dtypes in seen)
    assert torch.allclose(e.scores[:, 0], torch.tensor(np.where(towns["town"][:10] == "Ghent", 3.0, -3.0)).float(), atol=0.2)
