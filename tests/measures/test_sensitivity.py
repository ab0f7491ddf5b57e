"""Sensitivity: the maximum over draws, against the closed form of a linear explainer."""

import pytest
import torch

from lexplain.measures import QueriedFunction
from lexplain.measures.sensitivity import sensitivity

ROWS, COUNT, DRAWS, RADIUS = 5, 3, 40, 0.3
X = torch.randn(ROWS, COUNT, generator=torch.Generator().manual_seed(0))
MATRIX = torch.tensor([[2.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 1.0, 4.0]])


def linear(x):
    return x @ MATRIX.T


def steps(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([RADIUS * (2 * torch.rand(ROWS, COUNT, generator=generator) - 1) for _ in range(DRAWS)])


def run(explain=linear, seed=0, max_rows=1000, **how):
    how = {"radius": RADIUS, "draws": DRAWS, "generator": torch.Generator().manual_seed(seed), **how}
    return sensitivity(QueriedFunction(explain, max_rows), X, **how)


def test_is_the_maximum_over_all_draws():
    ratios = linear(steps()).norm(dim=-1) / linear(X).norm(dim=-1)  # (draws, b)
    assert torch.allclose(run(), ratios.amax(0).double(), rtol=1e-4)
    assert (run() > ratios[-1] + 1e-3).any()  # not the last draw alone


def test_many_draws_approach_the_bound_of_a_linear_explainer():
    """The farthest that a linear map takes a corner of the cube."""
    corners = RADIUS * torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * COUNT)
    bound = linear(corners).norm(dim=1).max() / linear(X).norm(dim=1)
    found = run(draws=5000)
    assert (found <= bound * (1 + 1e-5)).all()
    assert (found > 0.95 * bound).all()


def test_a_constant_explainer_does_not_move():
    assert (run(torch.ones_like) == 0).all()


def test_no_explanation_has_no_relative_change():
    assert sensitivity(QueriedFunction(linear), torch.zeros(ROWS, COUNT)).isnan().all()


def test_rows_of_any_shape():
    image = X.reshape(ROWS, 1, 1, COUNT)
    flat = sensitivity(QueriedFunction(lambda x: linear(x.flatten(1))), image, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(flat, sensitivity(QueriedFunction(linear), X, generator=torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("max_rows", [3, 7, 1000])
def test_what_is_explained_stays_as_it_is(max_rows):
    context = torch.arange(ROWS)

    def explain(x, rows):
        assert torch.allclose(x, X[rows], atol=RADIUS)  # each with its own
        return linear(x) * (1 + rows[:, None])

    assert torch.allclose(run(explain, context=context, max_rows=max_rows), run(), rtol=1e-4)


@pytest.mark.parametrize("max_rows", [1, 4, 12])
def test_rows_in_flight_are_bounded_and_change_nothing(max_rows):
    seen = []

    def explain(x):
        seen.append(len(x))
        return linear(x)

    assert torch.allclose(run(explain, max_rows=max_rows), run())
    assert max(seen) <= max_rows


def test_explainers_may_use_gradients():
    def gradient(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x**2).sum(), x)[0]

    assert torch.allclose(run(gradient), run(lambda x: 2 * x), rtol=1e-4)


@pytest.mark.parametrize("how", [{"draws": 0}, {"radius": 0.0}, {"max_rows": 0}], ids=str)
def test_errors(how):
    with pytest.raises(ValueError, match="must be a positive"):
        run(**how)
