"""Classes, a real value, and the distributions that stand for targets and predictions."""

from math import log

import pytest
import torch
from torch.distributions import Categorical, Normal, Poisson

from lexplain.core import Classes, RealValue, as_target, outputs_of, reshape_batch, rows_of, target_values
from lexplain.objectives import cross_entropy

PROBABILITIES = torch.tensor([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
CLASSIFY, REGRESS = Classes(3), RealValue()


# ---- targets ----


@pytest.mark.parametrize(("values", "real"), [(PROBABILITIES, False), (torch.tensor([1.0, -2.0, 0.5]), True)], ids=["classes", "real"])
def test_targets_give_back_their_values(values, real):
    target = as_target(values, real)
    assert isinstance(target, Normal if real else Categorical)
    assert target.batch_shape == (3,)
    assert torch.allclose(target_values(target), values)
    for rows in (torch.tensor([2, 0]), slice(1, 3), torch.tensor([True, False, True])):
        assert torch.allclose(target_values(rows_of(target, rows)), values[rows])
        assert isinstance(rows_of(target, rows), type(target))


def test_refuses_a_target_of_another_kind():
    with pytest.raises(TypeError, match="Poisson"):
        target_values(Poisson(torch.ones(3)))


def test_a_batch_is_reshaped():
    logits, loc = torch.randn(24, 5), torch.randn(24)
    folded = reshape_batch(Categorical(logits=logits), (2, 3, 4))
    assert folded.batch_shape == (2, 3, 4)
    assert torch.allclose(folded.probs, logits.softmax(-1).reshape(2, 3, 4, 5), atol=1e-6)
    normal = reshape_batch(Normal(loc, 2 * torch.ones(24)), (2, 3, 4))
    assert torch.equal(normal.mean, loc.reshape(2, 3, 4))
    assert (normal.stddev == 2).all()


# ---- classes, or a real value ----


def test_certain_answers_have_finite_logs():
    predicted = CLASSIFY.from_probabilities(torch.tensor([[1.0, 0.0, 0.0]]).requires_grad_())
    assert predicted.logits.isfinite().all()
    assert torch.allclose(predicted.probs, torch.tensor([[1.0, 0.0, 0.0]]), atol=2e-6)
    assert predicted.logits[0, 1].item() == pytest.approx(log(1e-6), abs=1e-4)  # no less: what one row can cost is bounded


def test_a_real_value_is_a_normal_of_scale_one():
    predicted = REGRESS.from_network(torch.tensor([[0.3], [-2.0]]))
    assert predicted.mean.tolist() == pytest.approx([0.3, -2.0])
    assert predicted.stddev.tolist() == [1, 1]
    assert REGRESS.from_probabilities(torch.tensor([[-5.0]])).mean.item() == -5


@pytest.mark.parametrize("outputs", [Classes(3), RealValue()], ids=["classes", "real"])
def test_outputs_of_half_precision_become_distributions_of_full(outputs):
    predicted = outputs.from_network(torch.randn(4, outputs.count).bfloat16())
    assert predicted.mean.dtype == torch.float32 if outputs.real else predicted.logits.dtype == torch.float32


def test_outputs_are_told_by_their_count_and_whether_they_are_real():
    assert outputs_of(3, real=False) == CLASSIFY
    assert outputs_of(1, real=True) == REGRESS
    assert (CLASSIFY.count, CLASSIFY.real, REGRESS.count, REGRESS.real) == (3, False, 1, True)


@pytest.mark.parametrize(("outputs", "values"), [(CLASSIFY, torch.eye(3)), (REGRESS, torch.tensor([1.0, -2.0]))], ids=["classes", "real"])
def test_means_of_a_target_are_its_values(outputs, values):
    target = outputs.target(values)
    assert isinstance(target, Normal if outputs.real else Categorical)
    assert torch.equal(outputs.means(target), values.reshape(len(values), -1))


def test_what_one_row_can_cost_is_bounded():
    """A model that is sure of the wrong class costs 14 nats, not the 87 of the smallest number there is."""
    said = Classes(2).from_probabilities(torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
    wrong = cross_entropy(as_target(torch.tensor([[0.0, 1.0], [0.0, 1.0]]), real=False), said)
    assert wrong[0].item() == pytest.approx(-log(1e-6), abs=1e-4)
    assert wrong[1].item() == pytest.approx(-log(0.75), abs=1e-5)  # ordinary answers are as they were
