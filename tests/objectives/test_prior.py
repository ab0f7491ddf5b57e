import pytest
import torch

from lexplain.core import Batch, as_target
from lexplain.masks import ConcreteMax
from lexplain.objectives import PriorExplainer

TARGET = as_target(torch.ones(2, 1), real=False)


def batch(logits, k=3, valid=None, progress=0.0):
    return Batch(torch.zeros(len(logits), 4), TARGET, valid=valid, p=ConcreteMax(logits, k, valid), progress=progress)


PRIOR = torch.tensor([[3.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 0.0]])


def prior(rounds=20):
    return PriorExplainer(lambda batch: PRIOR, rounds=rounds)


@pytest.mark.parametrize("rounds", [4, 20])
def test_the_weight_falls_a_half_a_third_a_quarter(rounds):
    weights = [prior(rounds).weight(batch(torch.zeros(2, 4), progress=m / rounds)) for m in range(rounds)]
    assert weights == pytest.approx([1 / (m + 2) for m in range(rounds)])


def test_the_merged_shares_are_those_of_the_paper():
    # Equation 12: softmax((m log z + log r) / (m + 1)) in round m = 1, 2, ...
    logits = torch.randn(2, 4)
    for m, progress in ((1, 0.0), (2, 0.05), (11, 0.5)):
        merged = prior().merge(logits, batch(logits, progress=progress)).softmax(-1)
        paper = ((m * logits.softmax(-1).log() + PRIOR.softmax(-1).log()) / (m + 1)).softmax(-1)
        assert torch.allclose(merged, paper, atol=1e-6)


def test_the_distance_fades_and_is_nothing_where_they_agree():
    logits = torch.randn(2, 4).requires_grad_()
    early, late = (prior().distance(logits, batch(logits, progress=progress)) for progress in (0.0, 0.95))
    assert (late < early).all()
    assert prior().distance(PRIOR + 5, batch(PRIOR)).tolist() == pytest.approx([0, 0], abs=1e-6)
    (slope,) = torch.autograd.grad(early.sum(), logits)
    assert slope.abs().sum() > 0


def test_the_prior_learns_nothing():
    scores = PRIOR.clone().requires_grad_()
    logits = torch.randn(2, 4).requires_grad_()
    merged = PriorExplainer(lambda batch: scores).merge(logits, batch(logits))
    merged.pow(2).sum().backward()
    assert scores.grad is None
    assert logits.grad.abs().sum() > 0
