"""One door for rows: checked, encoded and asked once."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from lexplain.core import Classes, RealValue
from lexplain.features import Columns, Groups, Patches
from lexplain.models import Problem, as_queried

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(6, 2)), columns=["a", "b"])
Y = np.array(["no", "yes", "no", "maybe", "yes", "no"])


def probabilities(rows):
    share = 1 / (1 + np.exp(-np.asarray(rows, dtype=float)[:, 0]))
    return np.stack([1 - share, share], 1)


def test_labels_and_rows_are_read_once():
    problem = Problem.of(X, Y)
    assert len(problem) == 6
    assert problem.features.names == ("a", "b")
    assert torch.equal(problem.encoded.x, Columns().fit(X).encode(X).x)
    assert problem.target is problem.targets.label_target
    assert problem.targets.label_target.classes.tolist() == ["maybe", "no", "yes"]
    assert (problem.targets.model_target, problem.targets.model) == (None, None)
    batch = problem.batch()
    assert torch.equal(batch.x, problem.encoded.x)
    assert batch.target.probs.argmax(1).tolist() == [1, 2, 1, 0, 2, 1]
    assert batch.valid is None


def test_the_model_is_explained_where_there_is_one_in_so_many_rows_at_a_time():
    seen = []

    def model(rows):
        seen.append(len(rows))
        assert isinstance(rows, pd.DataFrame)
        return probabilities(rows)

    problem = Problem.of(X, Y, as_queried(model, max_rows=4))
    assert seen == [4, 2]
    assert problem.target is problem.targets.model_target
    assert problem.targets.model_target.outputs == Classes(2)
    assert np.allclose(problem.targets.model_target.values, probabilities(X))
    assert problem.targets.label_target.outputs == Classes(3)
    assert problem.targets.model.rows == 6
    assert torch.equal(problem.batch(problem.targets.label_target).target.probs, problem.targets.label_target.values)


def test_features_are_fitted_to_the_rows_unless_they_are():
    blank = Groups({"both": ["a", "b"]})
    assert Problem.of(X, Y, features=blank).features.names == ("both",)
    assert not blank.is_fitted
    fitted = Columns().fit(X * 10)
    assert Problem.of(X, Y, features=fitted).features is fitted
    assert Problem.of(np.zeros((3, 8, 8)), [0, 1, 0]).features == Patches(None).fit(np.zeros((3, 8, 8)))


def test_other_rows_share_features_classes_and_units():
    first = Problem.of(X, Y)
    other = Problem.of(X.iloc[:2] * 3, Y[:2], like=first)  # of two classes out of three
    assert other.features is first.features
    assert other.targets.label_target.classes.tolist() == ["maybe", "no", "yes"]
    assert other.targets.label_target.values.tolist() == [[0, 1, 0], [0, 0, 1]]
    values = RNG.normal(5, 2, 6)
    real = Problem.of(X, values)
    assert real.targets.label_target.outputs == RealValue()
    again = Problem.of(X.iloc[3:], values[3:], like=real)
    assert torch.allclose(again.targets.label_target.values, real.targets.label_target.values[3:], atol=1e-5)
    assert (again.targets.label_target.mean, again.targets.label_target.scale) == (
        real.targets.label_target.mean,
        real.targets.label_target.scale,
    )
    model = Problem.of(X, model=lambda rows: np.asarray(rows)[:, 0])
    asked = Problem.of(X.iloc[3:], model=lambda rows: np.asarray(rows)[:, 0], like=model)
    assert torch.allclose(asked.targets.model_target.values, model.targets.model_target.values[3:], atol=1e-5)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="6"):
        Problem.of(X, Y[:4])
    words = X.assign(c=["u", "v"] * 3)
    with pytest.raises(ValueError, match="torch network"):
        Problem.of(words, model=nn.Linear(3, 2))
    with pytest.raises(ValueError, match="classes"):
        Problem.of(X, model=lambda rows: np.full((len(rows), 3), 1 / 3), like=Problem.of(X, model=probabilities))
