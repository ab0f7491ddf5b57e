"""What every term promises, and how an objective adds terms up."""

from dataclasses import replace

import pytest
import torch
from torch.distributions import Categorical

from lexplain.core import Batch, as_target
from lexplain.masks import Bernoulli, ConcreteMax, TopK
from lexplain.objectives import Continuity, Irrelevant, Likelihood, Objective, Sparsity, TargetRate, ToUniform

ROWS, COUNT, PADDED = 5, 4, 3  # three columns of padding behind four features
LINE = torch.stack([torch.arange(COUNT + PADDED - 1), torch.arange(1, COUNT + PADDED)], 1)
PENALTIES = {
    "sparsity": Sparsity(2.0),
    "price of each": Sparsity(0.5, each=True),
    "target rate": TargetRate(0.3),
    "to uniform": ToUniform(0.7),
    "irrelevant": Irrelevant(1.5),
}
FAMILIES = {
    "coins": Bernoulli,
    "top k": lambda logits, valid: TopK(logits, 2, valid),
    "max": lambda logits, valid: ConcreteMax(logits, 2, valid),
}


def with_padding(x, filler):
    return torch.cat([x, torch.full((*x.shape[:-1], PADDED), filler, dtype=x.dtype)], -1)


def batches(family):
    """The same rows, plain and padded."""
    logits, marks = torch.randn(ROWS, COUNT), torch.rand(ROWS, COUNT) < 0.5
    valid = with_padding(torch.ones(ROWS, COUNT).bool(), False)
    target = as_target(torch.eye(2)[torch.arange(ROWS) % 2], real=False)
    plain = Batch(torch.zeros(ROWS, COUNT), target, irrelevant=marks, p=family(logits, None), progress=1.0)
    padded = replace(plain, valid=valid, irrelevant=with_padding(marks, True), p=family(with_padding(logits, 9.0), valid))
    return plain, padded


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", PENALTIES)
def test_padding_changes_no_price_of_a_distribution(name, family):
    if name == "to uniform" and family == "coins":
        pytest.skip("a price of k draws, which coins are not")
    plain, padded = batches(FAMILIES[family])
    cost = PENALTIES[name](plain)
    assert cost.shape == (ROWS,)
    assert torch.allclose(PENALTIES[name](padded), cost, atol=1e-5)
    assert cost.abs().sum() > 0


def test_padding_changes_no_price_of_masks():
    plain, padded = batches(Bernoulli)
    mask = torch.rand(3, 2, ROWS, COUNT) < 0.5
    cost = Continuity(0.5, LINE[: COUNT - 1])(replace(plain, mask=mask))
    assert cost.shape == (3, ROWS)
    assert torch.equal(Continuity(0.5, LINE)(replace(padded, mask=with_padding(mask, False))), cost)


def test_an_objective_adds_up_what_masks_and_distributions_cost():
    plain, _ = batches(Bernoulli)
    mask = torch.rand(3, 1, ROWS, COUNT) < 0.5
    batch = replace(plain, mask=mask, predicted=Categorical(logits=torch.randn(3, 1, 2, ROWS, 2)))
    likelihood, line = Likelihood(imputations=2), Continuity(0.5, LINE[: COUNT - 1])
    objective = Objective(likelihood, (Sparsity(2.0, warmup=0.3), TargetRate(0.3)), (line, line))
    assert torch.allclose(objective.cost(batch), likelihood(batch) + 2 * line(batch))
    assert torch.allclose(objective.penalty(batch), Sparsity(2.0)(batch).mean() + TargetRate(0.3)(batch).mean())
    assert objective.burn_in == 0.3
    assert Objective().burn_in == 0
    assert Objective().penalty(batch) == 0
