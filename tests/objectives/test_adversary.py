import pytest
import torch

from lexplain.core import as_target
from lexplain.objectives import complement, opposite


def test_the_opposite_of_three_classes_is_normalised():
    flipped = opposite(as_target(torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]), real=False)).probs
    assert torch.allclose(flipped, torch.tensor([[0.0, 0.5, 0.5], [0.4, 0.35, 0.25]]))
    assert torch.allclose(flipped.sum(-1), torch.ones(2))


def test_the_opposite_of_two_classes_is_the_other_one():
    assert opposite(as_target(torch.tensor([[0.9, 0.1]]), real=False)).probs.tolist()[0] == pytest.approx([0.1, 0.9])


def test_the_opposite_of_a_value_is_the_mean_of_all():
    flipped = opposite(as_target(torch.tensor([1.5, -3.0]), real=True))
    assert flipped.mean.tolist() == [0, 0]
    assert flipped.stddev.tolist() == [1, 1]


def test_the_complement_shows_what_is_hidden():
    hard = torch.tensor([True, False, True])
    assert complement(hard).tolist() == [False, True, False]
    assert complement(hard).dtype == torch.bool
    soft = torch.tensor([1.0, 0.25, 0.0]).requires_grad_()
    assert complement(soft).tolist() == [0.0, 0.75, 1.0]
    assert complement(soft).requires_grad
