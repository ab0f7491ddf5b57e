import pytest
import torch

from lexplain.core import Trial, as_target
from lexplain.masks import Bernoulli
from lexplain.objectives import Sparsity, TargetRate, rate_of

CHANCES = torch.tensor([[0.9, 0.5, 0.1, 0.5], [0.2, 0.2, 0.2, 0.2]])


def trial(chances=CHANCES, valid=None, progress=1.0):
    p = Bernoulli(torch.logit(chances), valid)
    return Trial(torch.zeros(len(chances), 4), as_target(torch.ones(len(chances), 1), real=False), valid=valid, progress=progress, p=p)


VALID = torch.tensor([[True, True, False, False], [True, True, True, True]])


def test_the_price_is_that_of_all_features_or_of_each():
    assert Sparsity(2.0)(trial()).tolist() == pytest.approx([1.0, 0.4])
    assert Sparsity(2.0, each=True)(trial()).tolist() == pytest.approx([4.0, 1.6])


def test_padding_counts_in_no_rate():
    assert rate_of(trial(valid=VALID)).tolist() == pytest.approx([0.7, 0.2])
    assert Sparsity(2.0)(trial(valid=VALID)).tolist() == pytest.approx([1.4, 0.4])
    assert Sparsity(2.0, each=True)(trial(valid=VALID)).tolist() == pytest.approx([2.8, 1.6])
    nothing = rate_of(trial(valid=torch.zeros(2, 4).bool()))
    assert nothing.tolist() == [0, 0]


def test_the_price_warms_up():
    costs = [Sparsity(2.0, warmup=0.2)(trial(progress=progress))[0].item() for progress in (0.0, 0.1, 0.2, 0.9)]
    assert costs == pytest.approx([0.0, 0.5, 1.0, 1.0])
    assert Sparsity(2.0)(trial(progress=0.0))[0].item() == pytest.approx(1.0)


def test_the_target_rate_costs_nothing_at_the_target():
    assert TargetRate(0.35)(trial()).tolist() == pytest.approx([0, 0], abs=1e-6)  # on average over the rows
    assert TargetRate(0.25, price=3.0)(trial()).tolist() == pytest.approx([0.3, 0.3], rel=1e-4)
    assert TargetRate(0.45, price=3.0)(trial()).tolist() == pytest.approx([0.3, 0.3], rel=1e-4)
    assert TargetRate(0.45)(trial(valid=VALID)).tolist() == pytest.approx([0, 0], abs=1e-6)


@pytest.mark.parametrize("penalty", [Sparsity(1.0), Sparsity(1.0, each=True), TargetRate(0.2)], ids=["mean", "sum", "rate"])
def test_fewer_features_cost_less(penalty):
    logits = torch.zeros(3, 4).requires_grad_()
    some = Trial(torch.zeros(3, 4), as_target(torch.ones(3, 1), real=False), p=Bernoulli(logits), progress=1.0)
    (slope,) = torch.autograd.grad(penalty(some).mean(), logits)
    assert (slope > 0).all()
