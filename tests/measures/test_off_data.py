"""Off the data: 0.5 where filled rows are like real ones, 1 where they are not."""

import pytest
import torch

from lexplain.imputers import Constant, Gaussian, Marginal
from lexplain.measures import bootstrap
from lexplain.measures.off_data import off_data

DRAW = torch.Generator().manual_seed(0)
INDEPENDENT = torch.randn(20_600, 4, generator=DRAW)
CORRELATED = INDEPENDENT.clone()
CORRELATED[:, 1] = 0.99 * CORRELATED[:, 0] + 0.14 * CORRELATED[:, 1]
MASK = torch.rand(300, 4, generator=DRAW) < 0.5


def measured(data, imputer, mask=MASK):
    return off_data(imputer(data[:300], mask), data[300:600], trees=30)


@pytest.mark.parametrize(
    ("data", "imputer", "least", "most"),
    [
        (INDEPENDENT, Marginal(INDEPENDENT[600:]), 0.43, 0.57),  # another row's value of an independent column is as real as any
        (INDEPENDENT, Constant(-10.0), 0.9, 1.0),
        (INDEPENDENT, Constant(0.0), 0.85, 1.0),  # the mean, again and again
        (CORRELATED, Marginal(CORRELATED[600:]), 0.65, 1.0),  # real values that never come together
        (CORRELATED, Gaussian.fit(CORRELATED[600:]), 0.43, 0.57),  # drawn given what is visible
    ],
    ids=["independent, marginal", "constant -10", "mean", "correlated, marginal", "correlated, conditional"],
)
def test_tells_what_is_real(data, imputer, least, most):
    estimate = bootstrap(measured(data, imputer))
    assert least < estimate.mean <= most
    if most < 1:
        assert estimate.low < 0.5 < estimate.high


def test_rows_in_which_nothing_is_hidden_are_real():
    assert measured(INDEPENDENT, Constant(-10.0), torch.ones_like(MASK)).mean().item() == pytest.approx(0.5, abs=0.07)


def test_one_value_a_row_of_either_kind_reproducibly():
    filled, real = torch.randn(20, 2, 3), torch.randn(30, 2, 3) + 5
    values = off_data(filled, real, trees=5)
    assert values.shape == (50,)
    assert values.mean().item() == pytest.approx(1, abs=0.02)
    assert torch.equal(values, off_data(filled, real, trees=5))


@pytest.mark.parametrize(("filled", "real", "folds"), [(MASK, MASK[:, :2], 5), (MASK[:3], MASK, 5), (MASK, MASK[:3], 5), (MASK, MASK, 1)])
def test_errors(filled, real, folds):
    with pytest.raises(ValueError, match=f"folds={folds}"):
        off_data(filled.float(), real.float(), folds=folds)
