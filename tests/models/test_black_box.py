import numpy as np
import pandas as pd
import pytest
import torch

from lexplain.core import Classes, RealValue
from lexplain.features import Columns
from lexplain.models import BlackBox

FRAME = pd.DataFrame({"age": [20.0, 40.0, 60.0, 80.0], "income": [1000.0, 3000.0, 2000.0, 9000.0]})
TWO = Classes(2)


def halves(rows):
    return np.full((len(rows), 2), 0.5)


class Spy:
    """A model that keeps what it is asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, rows):
        self.asked.append(rows)
        return halves(rows)


def test_the_model_sees_raw_units_and_names():
    spy, features = Spy(), Columns().fit(FRAME)
    encoded = features.encode(FRAME).x
    assert encoded.mean(0).abs().max() < 1e-6  # the model must not see these
    BlackBox(spy, TWO, decode=features.decode)(encoded, torch.ones(4, 2))
    assert isinstance(spy.asked[0], pd.DataFrame)
    assert list(spy.asked[0].columns) == ["age", "income"]
    assert np.allclose(spy.asked[0].to_numpy(), FRAME.to_numpy())


def test_an_array_arrives_as_an_array():
    spy, features = Spy(), Columns().fit(FRAME.to_numpy())
    BlackBox(spy, TWO, decode=features.decode)(features.encode(FRAME.to_numpy()).x, torch.ones(4, 2))
    assert type(spy.asked[0]) is np.ndarray
    assert np.allclose(spy.asked[0], FRAME.to_numpy())


@pytest.mark.parametrize("decode", [lambda x: x.numpy(), lambda x: pd.DataFrame(x.numpy(), columns=["a", "b"])], ids=["array", "frame"])
def test_the_same_rows_are_asked_for_once(decode):
    spy = Spy()
    box = BlackBox(spy, TWO, decode=decode)
    x, mask = torch.randn(6, 2), torch.ones(6, 2)
    first = box(x, mask).probs
    assert torch.equal(box(x.clone(), 1 - mask).probs, first)
    assert (box.model.calls, box.model.rows, len(spy.asked)) == (1, 6, 1)
    box(x.flip(0), mask)
    box(x[:3], mask[:3])
    assert (box.model.calls, box.model.rows, len(spy.asked)) == (3, 15, 3)


def test_gives_no_gradient():
    box = BlackBox(halves, TWO, decode=lambda x: x.detach().numpy())
    assert not box(torch.randn(3, 2).requires_grad_(), torch.ones(3, 2)).logits.requires_grad
    assert box.differentiable is False


def test_gives_what_the_model_said():
    said = np.array([[0.2, 0.8], [1.0, 0.0]])
    box = BlackBox(lambda rows: said, TWO, decode=lambda x: x.numpy())
    assert torch.allclose(box(torch.randn(2, 2), torch.ones(2, 2)).probs, torch.tensor(said, dtype=torch.float32), atol=2e-6)
    real = BlackBox(lambda rows: np.array([5.0, -3.0]), RealValue(), decode=lambda x: x.numpy())
    assert real(torch.randn(2, 2), torch.ones(2, 2)).mean.tolist() == [5, -3]
    column = BlackBox(lambda rows: np.array([[5.0], [-3.0]]), RealValue(), decode=lambda x: x.numpy())
    assert column(torch.randn(2, 2), torch.ones(2, 2)).mean.tolist() == [5, -3]
    tensor = BlackBox(lambda rows: torch.tensor(said, requires_grad=True), TWO, decode=lambda x: x.numpy())
    assert torch.allclose(tensor(torch.randn(2, 2), torch.ones(2, 2)).probs, torch.tensor(said, dtype=torch.float32), atol=2e-6)


def test_a_flipped_answer_is_read():
    # predict_proba(X)[:, ::-1] is a view of negative stride, which torch cannot share.
    box = BlackBox(lambda rows: np.tile([0.2, 0.8], (len(rows), 1))[:, ::-1], TWO, decode=lambda x: x.numpy())
    assert torch.allclose(box(torch.randn(2, 2), torch.ones(2, 2)).probs, torch.tensor([[0.8, 0.2]]).expand(2, 2))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda rows: np.zeros((len(rows), 2, 1)), "returned shape"),
        (lambda rows: halves(rows)[:-1], "returned shape"),
        (lambda rows: np.float64(0.5), "returned shape"),
        (lambda rows: np.array([["a", "b"]] * len(rows)), "predict_proba rather than predict"),
        (lambda rows: halves(rows) * np.nan, "NaN or infinity"),
        (lambda rows: np.full((len(rows), 3), 1 / 3), "classes"),
        (lambda rows: np.full(len(rows), 0.5), "classes"),
    ],
    ids=["three axes", "too few rows", "one number", "labels", "NaN", "three classes for two", "one number a row for two classes"],
)
def test_refuses_what_is_no_prediction(answer, words):
    box = BlackBox(answer, TWO, decode=lambda x: x.numpy())
    with pytest.raises(ValueError, match=words):
        box(torch.randn(4, 2), torch.ones(4, 2))
