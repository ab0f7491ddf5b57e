"""Conditional draws against the textbook's conditional mean and covariance."""

from itertools import product

import pytest
import torch

from lexplain.core import seeded
from lexplain.imputers import Gaussian, IndependentGaussian

N = 100_000
MEAN = torch.tensor([0.5, -1.0, 2.0])
COVARIANCE = torch.tensor([[1.0, 0.6, -0.3], [0.6, 2.0, 0.5], [-0.3, 0.5, 0.8]])
ROW = torch.tensor([1.3, 0.4, -0.2])


def textbook(on):
    """Mean and covariance of what is off given what is on."""
    off = [j for j in range(3) if not on[j]]
    seen = [j for j in range(3) if on[j]]
    mean, covariance = MEAN[off].double(), COVARIANCE[off][:, off].double()
    if seen:
        slope = COVARIANCE[off][:, seen].double() @ torch.linalg.inv(COVARIANCE[seen][:, seen].double())
        mean = mean + slope @ (ROW[seen] - MEAN[seen]).double()
        covariance = covariance - slope @ COVARIANCE[seen][:, off].double()
    return off, mean, covariance


@pytest.mark.parametrize("on", [on for on in product([True, False], repeat=3) if not all(on)], ids=str)
def test_draws_from_the_conditional(on):
    filled = Gaussian(MEAN, COVARIANCE)(ROW.expand(N, 3), torch.tensor(on).expand(N, 3)).double()
    off, mean, covariance = textbook(on)
    draws = filled[:, off]
    spread = covariance.diagonal().sqrt()
    assert ((draws.mean(0) - mean).abs() < 5 * spread / N**0.5).all()
    # The variance of a sample covariance of normal draws: (c_ij^2 + c_ii c_jj) / n.
    error = ((covariance**2 + covariance.diagonal()[:, None] * covariance.diagonal()) / N).sqrt()
    assert ((torch.cov(draws.T).reshape(covariance.shape) - covariance).abs() < 5 * error).all()


def test_nothing_visible_is_the_marginal_law():
    filled = Gaussian(MEAN, COVARIANCE)(torch.full((N, 3), 1e6), torch.zeros(N, 3).bool())
    assert torch.allclose(filled.mean(0), MEAN, atol=0.025)
    assert torch.allclose(torch.cov(filled.T), COVARIANCE, atol=0.05)


def test_rows_are_conditioned_each_on_its_own():
    x = torch.randn(64, 3)
    mask = torch.tensor(list(product([True, False], repeat=3))).repeat(8, 1)
    imputer = Gaussian(MEAN, COVARIANCE)
    with seeded(0):
        noise = torch.randn(64, 3)
    with seeded(0):
        together = imputer(x, mask)
    for i in range(64):
        # The slow twin: Matheron's rule for one row, with the row's own block of the covariance.
        draw, seen = MEAN + torch.linalg.cholesky(COVARIANCE) @ noise[i], mask[i].nonzero()[:, 0]
        moved = draw + COVARIANCE[:, seen] @ torch.linalg.solve(COVARIANCE[seen][:, seen], (x[i] - draw)[seen]) if len(seen) else draw
        assert torch.allclose(together[i], torch.where(mask[i], x[i], moved), atol=1e-4)


def test_a_diagonal_covariance_is_independent_columns():
    scale = torch.tensor([0.5, 1.0, 2.0])
    joint, alone = Gaussian(MEAN, (scale**2).diag()), IndependentGaussian(MEAN, scale)
    x, mask = torch.randn(500, 3), torch.rand(500, 3) < 0.5
    with seeded(0):
        one = joint(x, mask)
    with seeded(0):
        two = alone(x, mask)
    assert torch.allclose(one, two, atol=1e-5)
    assert not torch.equal(two[~mask], MEAN.expand(500, 3)[~mask])


def test_fit_learns_mean_and_covariance():
    rows = MEAN + torch.randn(N, 3) @ torch.linalg.cholesky(COVARIANCE).T
    joint, alone = Gaussian.fit(rows), IndependentGaussian.fit(rows)
    assert torch.allclose(joint.mean, MEAN, atol=0.03)
    assert torch.allclose(joint.covariance, COVARIANCE, atol=0.05)
    assert torch.allclose(alone.mean, MEAN, atol=0.03)
    assert torch.allclose(alone.scale, COVARIANCE.diagonal().sqrt(), atol=0.03)


@pytest.mark.parametrize("kind", ["repeated", "constant", "few rows"])
def test_fit_survives_rows_without_a_covariance(kind):
    rows = torch.randn(200, 6)
    if kind == "repeated":
        rows[:, 3:] = rows[:, :3]
    if kind == "constant":
        rows[:, 0] = 2.0
    if kind == "few rows":
        rows = rows[:2]
    imputer = Gaussian.fit(rows)
    mask = torch.rand(200, 6) < 0.5
    filled = imputer(rows[:1].expand(200, 6), mask)
    assert filled.isfinite().all()
    if kind == "repeated":  # a column whose twin is visible is drawn close to it
        mask[:, :3], mask[:, 3:] = True, False
        assert (imputer(rows, mask)[:, 3:] - rows[:, 3:]).abs().mean() < 0.1


def test_the_standard_normal_of_lex_is_the_default():
    filled = IndependentGaussian()(torch.full((N, 3), 9.0), torch.zeros(N, 3).bool())
    assert filled.mean(0).abs().max() < 5 / N**0.5
    assert (filled.std(0) - 1).abs().max() < 5 / (2 * N) ** 0.5
    assert (torch.corrcoef(filled.T) - torch.eye(3)).abs().max() < 5 / N**0.5
