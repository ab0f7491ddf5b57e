"""Insertion and deletion: the closed form of an additive model, and worked areas."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from lexplain.features import Columns, Groups
from lexplain.imputers import Constant
from lexplain.measures import QueriedFunction
from lexplain.measures.curves import area, curve as insertion_curve, sizes

deletion_curve = partial(insertion_curve, deletes=True)

COUNT, ROWS = 7, 5
X = torch.randn(ROWS, COUNT, generator=torch.Generator().manual_seed(0))
FEATURES = Columns().fit(torch.randn(20, COUNT).numpy())
WEIGHTS = torch.linspace(-0.5, 1.0, COUNT)
PARTS = (X * WEIGHTS).double()  # what each feature adds


@QueriedFunction
def model(x):
    """Two outputs: the second adds features up."""
    total = 0.5 + (x * WEIGHTS).sum(1)
    return torch.stack([1 - total, total], 1)


SECOND = torch.ones(ROWS).long()


def best_first(scores):
    return PARTS.gather(1, scores.argsort(1, descending=True)).cumsum(1).T  # (d, b)


def test_an_additive_models_curves_are_running_sums():
    scores = torch.rand(ROWS, COUNT)
    sums = torch.cat([torch.zeros(1, ROWS), best_first(scores)])
    assert torch.allclose(insertion_curve(model, FEATURES, X, scores, target=SECOND), 0.5 + sums, atol=1e-6)
    assert torch.allclose(deletion_curve(model, FEATURES, X, scores, target=SECOND), 0.5 + PARTS.sum(1) - sums, atol=1e-6)


def test_the_imputer_fills_what_is_hidden():
    scores = torch.rand(ROWS, COUNT)
    base = Constant(torch.arange(COUNT).float())
    curve = insertion_curve(model, FEATURES, X, scores, target=SECOND, imputer=base)
    added = (X - base.value).mul(WEIGHTS).double().gather(1, scores.argsort(1, descending=True)).cumsum(1).T
    assert torch.allclose(curve[1:], model(base.value[None])[0, 1] + added, atol=1e-5)


def test_no_order_beats_the_models_own_parts():
    other, how = torch.rand(ROWS, COUNT), (model, FEATURES, X)
    best, worse = (area(insertion_curve(*how, scores, target=SECOND), COUNT) for scores in (PARTS, other))
    assert (best >= worse).all()
    best, worse = (area(deletion_curve(*how, scores, target=SECOND), COUNT) for scores in (PARTS, other))
    assert (best <= worse).all()


def test_the_predicted_class_is_explained():
    predicted = model(X).argmax(1)
    scores = torch.rand(ROWS, COUNT)
    assert predicted.unique().numel() == 2
    assert torch.equal(deletion_curve(model, FEATURES, X, scores), deletion_curve(model, FEATURES, X, scores, target=predicted))
    assert torch.allclose(deletion_curve(model, FEATURES, X, scores)[0], model(X).amax(1).double())


def test_areas_by_hand():
    curve = torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])  # two features
    assert area(curve, 2).tolist() == [0.75, 0.75]
    assert sizes(5, 2).tolist() == [0, 2, 5]
    assert area(curve, 5).tolist() == pytest.approx([0.4 * 0.5 + 0.6, 0.4 + 0.6 * 0.5])  # steps of 2 and 3 features


def test_wide_rows_take_no_more_steps_than_told():
    assert sizes(784, 50).shape == (51,)
    assert sizes(784, 50)[[0, 50]].tolist() == [0, 784]
    assert sizes(3, 50).tolist() == [0, 1, 2, 3]
    scores = torch.rand(ROWS, COUNT)
    whole, some = (insertion_curve(model, FEATURES, X, scores, target=SECOND, steps=steps) for steps in (50, 3))
    assert torch.equal(some, whole[sizes(COUNT, 3)])


@pytest.mark.parametrize("max_rows", [1, 3, 12, 1000])
def test_rows_in_flight_are_bounded_and_change_nothing(max_rows):
    seen = []

    def watched(x):
        seen.append(len(x))
        return model(x)

    scores = torch.rand(ROWS, COUNT)
    for curve in (insertion_curve, deletion_curve):
        assert torch.allclose(curve(QueriedFunction(watched, max_rows), FEATURES, X, scores), curve(model, FEATURES, X, scores))
    assert max(seen) <= max_rows
    assert max_rows < 1000 or len(seen) == 4


def test_memory_does_not_grow_with_the_steps():
    held = []

    class Watched:
        count = COUNT

        def expand(self, mask):
            held.append(len(mask))
            return mask

    insertion_curve(replace(model, max_rows=2 * ROWS), Watched(), X, torch.rand(ROWS, COUNT))
    assert max(held) == 2 * ROWS


def test_groups_come_and_go_together():
    features = Groups(groups={"most": [0, 1, 2, 3, 4]}).fit(torch.randn(20, COUNT).numpy())
    curve = insertion_curve(model, features, X, torch.tensor([[3.0, 2.0, 1.0]]).expand(ROWS, -1), target=SECOND)
    assert torch.allclose(curve[1], 0.5 + PARTS[:, :5].sum(1))


def test_ties_come_in_an_order_of_their_own():
    rows, scores = torch.ones(2000, COUNT), torch.zeros(2000, COUNT)
    second = torch.ones(2000).long()
    curve = insertion_curve(model, FEATURES, rows, scores, target=second, generator=torch.Generator().manual_seed(0))
    assert curve[1].mean().item() == pytest.approx(0.5 + WEIGHTS.mean().item(), abs=0.05)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"scores": X[:, :2]}, f"{COUNT} features"),
        ({"scores": X * torch.nan}, "NaN"),
        ({"steps": 0}, "steps"),
    ],
)
@pytest.mark.parametrize("curve", [insertion_curve, deletion_curve], ids=["insertion", "deletion"])
def test_errors(curve, how, words):
    with pytest.raises(ValueError, match=words):
        curve(model, FEATURES, X, **{"scores": X, **how})
