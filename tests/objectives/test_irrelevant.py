"""The price of marked features."""

from types import SimpleNamespace

import pytest
import torch

from lexplain.core import Trial, as_target
from lexplain.objectives import Irrelevant


def trial(irrelevant):
    p = SimpleNamespace(mean=torch.tensor([[0.9, 0.5, 0.1], [0.2, 0.4, 0.6]]))
    return Trial(torch.zeros(2, 3), as_target(torch.ones(2, 2) / 2, real=False), irrelevant=irrelevant, p=p)


def test_marked_features_cost_their_share_and_rows_without_marks_nothing():
    marks = torch.tensor([[True, False, True], [False, False, False]])
    assert Irrelevant(2.0)(trial(marks)).tolist() == pytest.approx([2 * (0.9 + 0.1) / 2, 0.0])
    assert Irrelevant(2.0)(trial(None)).tolist() == [0.0, 0.0]


def test_marks_go_where_their_rows_go():
    marks = torch.tensor([[True, False, True], [False, True, False]])
    assert trial(marks).take(slice(1, 2)).irrelevant.tolist() == [[False, True, False]]
    assert trial(marks).to("cpu").irrelevant.equal(marks)
