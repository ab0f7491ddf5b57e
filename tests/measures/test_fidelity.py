"""Fidelity: what a model says from kept features, and what a fresh one can learn from them."""

import pytest
import torch

from lexplain.core import Batch, Classes, as_target
from lexplain.evaluation.retrained import retrain
from lexplain.features import Columns, Groups
from lexplain.imputers import Constant
from lexplain.measures import QueriedFunction
from lexplain.measures.fidelity import approximator, same_class
from lexplain.networks import mlp

COUNT = 4
X = torch.randn(1500, COUNT, generator=torch.Generator().manual_seed(0))
X[:, 2:] += 3  # far from the 0 of what is hidden
FEATURES = Columns().fit(X.numpy())


@QueriedFunction
def model(x):
    """Surely the second class where the first feature is above 0.2: zero-filled rows are of the first."""
    return torch.stack([0.2 - x[:, 0], x[:, 0] - 0.2], 1).mul(9).softmax(1)


SAID = model.function(X)
TRAIN, TEST = Batch(X[:1000], as_target(SAID[:1000], real=False)), X[1000:]
SMALL = mlp((COUNT,), 2, sees_mask=False, hidden=(64, 64))


def fresh(rows):
    return QueriedFunction(retrain(rows, FEATURES, Classes(2), network=SMALL, steps=300))


def only(*features, rows=1500):
    mask = torch.zeros(rows, COUNT).bool()
    mask[:, list(features)] = True
    return mask


def test_by_hand():
    x = torch.tensor([[1.0, 0.0, 0.0, 0.0], [-1.0, 5.0, 0.0, 0.0]])
    assert same_class(model, FEATURES, x, only(0, rows=2)).tolist() == [1, 1]
    assert same_class(model, FEATURES, x, only(1, 2, rows=2)).tolist() == [0, 1]  # a hidden 0 looks like the first class
    assert same_class(model, FEATURES, x, ~only(0, rows=2)).tolist() == [0, 1]
    assert same_class(model, FEATURES, x, ~only(1, 2, rows=2)).tolist() == [1, 1]
    high = Constant(3.0)
    assert same_class(model, FEATURES, x, only(1, rows=2), imputer=high).tolist() == [1, 0]
    assert same_class(model, FEATURES, x, ~only(0, rows=2), imputer=high).tolist() == [1, 0]


def test_a_model_approximates_itself():
    mask = torch.rand(500, COUNT) < 0.5
    alone = same_class(model, FEATURES, TEST, mask)
    assert torch.equal(same_class(model, FEATURES, TEST, mask, reader=model), alone)
    assert torch.equal(same_class(model, FEATURES, TEST, mask, reader=QueriedFunction(lambda x: 1 - model(x))), 1 - alone)


def test_an_approximator_learns_what_is_kept():
    mask, rest = only(0), ~only(0)
    kept, others = (approximator(model, FEATURES, fresh, TRAIN, m[:1000]) for m in (mask, rest))
    assert same_class(model, FEATURES, TEST, mask[1000:], reader=kept).mean() > 0.95
    commonest = SAID[1000:].argmax(1).double().mean()
    assert same_class(model, FEATURES, TEST, rest[1000:], reader=others).mean() < max(commonest, 1 - commonest) + 0.05


def test_an_approximator_reads_an_encoding_that_the_model_does_not():
    mask = torch.where(SAID.argmax(1)[:, None] == 1, only(2), only(3))  # tells the class by which useless feature it shows
    reader = approximator(model, FEATURES, fresh, TRAIN, mask[:1000])
    assert same_class(model, FEATURES, TEST, mask[1000:], reader=reader).mean() > 0.95
    assert same_class(model, FEATURES, TEST, mask[1000:]).mean() < 0.65


def test_an_approximator_learns_soft_outputs():
    unsure = Batch(TRAIN.x, as_target(torch.tensor([[0.3, 0.7]]).expand(1000, -1), real=False))
    output = approximator(model, FEATURES, fresh, unsure, only(0, rows=1000))(TEST)
    assert output[:, 1].mean().item() == pytest.approx(0.7, abs=0.03)


def test_groups_are_kept_together():
    features = Groups(groups={"pair": [0, 2]}).fit(X.numpy())
    mask = torch.tensor([[True, False, False]]).expand(500, -1)
    assert same_class(model, features, TEST, mask).mean() == 1
    assert same_class(model, features, TEST, ~mask).mean() < 0.65


@pytest.mark.parametrize("hides", [False, True])
def test_rows_in_flight_are_bounded_and_change_nothing(hides):
    seen = []

    def watched(x):
        seen.append(len(x))
        return model(x)

    mask = (torch.rand(500, COUNT) < 0.5) ^ hides
    assert torch.equal(same_class(QueriedFunction(watched, 70), FEATURES, TEST, mask), same_class(model, FEATURES, TEST, mask))
    assert max(seen) == 70


def test_errors():
    with pytest.raises(ValueError, match="several classes"):
        same_class(QueriedFunction(lambda x: x[:, :1]), FEATURES, TEST, only(0, rows=500))
    with pytest.raises(ValueError, match="0 and 1"):
        same_class(model, FEATURES, TEST, torch.rand(500, COUNT))
