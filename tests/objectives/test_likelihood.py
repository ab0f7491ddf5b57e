from itertools import product
from math import log, pi

import pytest
import torch
from torch.distributions import Categorical, Normal
from torch.nn.functional import cross_entropy as torch_cross_entropy

from lexplain.core import Batch, as_target
from lexplain.masks import Bernoulli
from lexplain.objectives import Likelihood, complement, cross_entropy, log_terms, opposite


def batch(target, predicted):
    return Batch(torch.zeros(target.batch_shape[0], 1), target, predicted=predicted)


def chances(*values):
    """Predictions of the first of two classes, of batch (M, L, K, b), from nested lists."""
    first = torch.tensor(values)
    return Categorical(probs=torch.stack([first, 1 - first], -1))


FIRST = as_target(torch.tensor([[1.0, 0.0]]), real=False)  # one row of the first class


def test_one_mask_and_one_imputation_is_cross_entropy():
    logits, labels = torch.randn(3, 1, 1, 6, 4), torch.tensor([0, 1, 2, 3, 1, 0])
    target = as_target(torch.eye(4)[labels], real=False)
    cost = Likelihood()(batch(target, Categorical(logits=logits)))
    assert cost.shape == (3, 6)
    for draw in range(3):
        assert torch.allclose(cost[draw], torch_cross_entropy(logits[draw, 0, 0], labels, reduction="none"), atol=1e-5)
    outside = Likelihood(masks_inside=False, imputations_inside=False)(batch(target, Categorical(logits=logits)))
    assert torch.allclose(outside, cost)
    assert torch.allclose(cross_entropy(target, Categorical(logits=logits[0, 0, 0])), cost[0])


WORKED = [0.9, 0.05, 0.5]  # methods.md 5.1


def test_the_worked_numbers():
    over_masks = chances([[[p]] for p in WORKED])  # (1, 3, 1, 1)
    over_imputations = chances([[[p] for p in WORKED]])  # (1, 1, 3, 1)
    for predicted, inside, outside in (
        (over_masks, Likelihood(masks=3), Likelihood(masks=3, masks_inside=False)),
        (over_imputations, Likelihood(imputations=3), Likelihood(imputations=3, imputations_inside=False)),
    ):
        assert inside(batch(FIRST, predicted)).item() == pytest.approx(0.727, abs=5e-4)
        assert outside(batch(FIRST, predicted)).item() == pytest.approx(1.265, abs=5e-4)


@pytest.mark.parametrize("masks_inside", [True, False])
@pytest.mark.parametrize("imputations_inside", [True, False])
def test_masks_and_imputations_are_joined_each_in_its_way(masks_inside, imputations_inside):
    table = [[0.9, 0.2, 0.4], [0.3, 0.6, 0.1]]  # 2 masks of 3 imputations
    predicted = chances([[[p] for p in row] for row in table])
    got = Likelihood(2, 3, masks_inside, imputations_inside)(batch(FIRST, predicted)).item()
    mean = lambda values: sum(values) / len(values)  # noqa: E731
    logs = [log(mean(row)) if imputations_inside else mean([log(p) for p in row]) for row in table]
    expected = log(mean([2.718281828459045**v for v in logs])) if masks_inside else mean(logs)
    assert got == pytest.approx(-expected, rel=1e-4)


CHANCE = torch.tensor([0.1, 0.9, 0.3, 0.7, 0.2, 0.6, 0.05, 0.8])  # p(y | mask) of the 8 masks of 3 features
LOGITS = torch.tensor([[0.4, -0.9, 0.2]])


def test_the_bound_rises_with_the_masks_and_meets_the_likelihood():
    every = torch.tensor(list(product([False, True], repeat=3)))
    exact = (Bernoulli(LOGITS).log_prob(every[:, None]).exp()[:, 0] * CHANCE).sum().log().item()
    bounds, errors = [], []
    for masks in (1, 2, 8, 200):
        drawn = Bernoulli(LOGITS).sample((4000, masks))  # (M, L, 1, 3)
        p = CHANCE[(drawn.int() * torch.tensor([4, 2, 1])).sum(-1)].unsqueeze(2)  # (M, L, K, b)
        cost = Likelihood(masks=masks)(batch(FIRST, Categorical(probs=torch.stack([p, 1 - p], -1))))[:, 0]
        bounds.append(-cost.mean().item())
        errors.append((cost.std() / 4000**0.5).item())
    assert bounds == sorted(bounds)
    assert bounds[1] - bounds[0] > 5 * errors[0]
    assert bounds[2] < exact - 5 * errors[2]  # below, as a bound is
    assert bounds[3] == pytest.approx(exact, abs=0.005)
    jensen = (Bernoulli(LOGITS).log_prob(every[:, None]).exp()[:, 0] * CHANCE.log()).sum().item()
    assert bounds[0] == pytest.approx(jensen, abs=5 * errors[0])


def test_soft_targets_are_the_exact_expectation_of_the_bound():
    target = torch.tensor([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    logits = torch.randn(2, 4, 3, 2, 3)
    got = Likelihood(masks=4, imputations=3)(batch(as_target(target, real=False), Categorical(logits=logits)))
    p = logits.softmax(-1)
    for draw, row in product(range(2), range(2)):
        expected = -sum(target[row, y] * p[draw, :, :, row, y].mean().log() for y in range(3))
        assert got[draw, row].item() == pytest.approx(expected.item(), rel=1e-4)


def test_real_targets_join_densities():
    y, f = 0.3, [1.0, -0.5]
    predicted = Normal(torch.tensor([[[[v] for v in f]]]).reshape(1, 1, 2, 1), torch.ones(1, 1, 2, 1))
    target = as_target(torch.tensor([y]), real=True)
    logs = [-0.5 * (y - v) ** 2 - 0.5 * log(2 * pi) for v in f]
    inside = -log(sum(2.718281828459045**v for v in logs) / 2)
    assert Likelihood(imputations=2)(batch(target, predicted)).item() == pytest.approx(inside, rel=1e-4)
    outside = Likelihood(imputations=2, imputations_inside=False)(batch(target, predicted))
    assert outside.item() == pytest.approx(-sum(logs) / 2, rel=1e-4)
    assert outside.shape == (1, 1)


def test_an_impossible_class_costs_nothing_where_nobody_expects_it():
    predicted = Categorical(logits=torch.tensor([[[[[0.0, -200.0]]]]]))
    assert Likelihood()(batch(FIRST, predicted)).item() == pytest.approx(0, abs=1e-6)


def test_refuses_a_prediction_of_another_kind():
    with pytest.raises(TypeError, match=r"Normal target .*Categorical"):
        log_terms(as_target(torch.zeros(2), real=True), Categorical(logits=torch.zeros(2, 3)))


# ---- an adversary ----


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
