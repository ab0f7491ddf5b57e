"""Infidelity: nothing is lost on a linear model, and what is lost otherwise has a closed form."""

from functools import partial

import pytest
import torch

from lexplain.features import Columns, Groups
from lexplain.imputers import Constant
from lexplain.measures import QueriedFunction
from lexplain.measures.infidelity import hidden_features, infidelity

ROWS, COUNT = 6, 4
X = torch.randn(ROWS, COUNT, generator=torch.Generator().manual_seed(0))
WEIGHTS = torch.tensor([[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, 1.0, -1.0]])
FEATURES = Columns().fit(torch.randn(20, COUNT).numpy())
TARGET = torch.arange(ROWS) % 2
SLOPES = WEIGHTS[TARGET]
HIDDEN = hidden_features(FEATURES, Constant(0.5))


def noisy(x, generator, features=FEATURES):
    """Move each row to noise around 0; features are perturbed by the difference."""
    to = 0.2 * torch.randn(x.shape, generator=generator)
    return to, features.gather(x - to)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@QueriedFunction
def linear(x):
    return x @ WEIGHTS.T + 7


def drawn(perturb, draws, rows=X, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return [perturb(rows, generator) for _ in range(draws)]


def test_the_gradient_of_a_linear_model_has_none():
    assert infidelity(linear, noisy, X, SLOPES, target=TARGET, draws=50).max() < 1e-9
    assert infidelity(linear, HIDDEN, X, SLOPES * (X - 0.5), target=TARGET, draws=50).max() < 1e-9
    assert infidelity(linear, noisy, X, SLOPES + 0.1, target=TARGET, draws=50).min() > 1e-4


def test_of_the_predicted_class_unless_told():
    predicted = linear(X).argmax(1)
    assert predicted.unique().numel() == 2
    assert infidelity(linear, noisy, X, WEIGHTS[predicted], draws=10).max() < 1e-9


@pytest.mark.parametrize("perturb", [noisy, HIDDEN], ids=["noisy", "hidden"])
@pytest.mark.parametrize("scaled", [False, True])
def test_is_the_definition(perturb, scaled):
    @QueriedFunction
    def model(x):
        return (x**3).sum(1, keepdim=True)

    scores = torch.randn(ROWS, COUNT)
    errors = torch.zeros(ROWS, 20).double()
    foretold, change = torch.zeros(2, ROWS, 20).double()
    for j, (rows, by) in enumerate(drawn(perturb, 20)):
        for i in range(ROWS):
            foretold[i, j], change[i, j] = by[i] @ scores[i], (model(X[i : i + 1]) - model(rows[i : i + 1]))[0, 0]
    factor = (foretold * change).mean(1) / foretold.square().mean(1) if scaled else torch.ones(ROWS)
    errors = (factor[:, None] * foretold - change).square().mean(1)
    got = infidelity(model, perturb, X, scores, scaled=scaled, draws=20, generator=seeded(3))
    assert torch.allclose(got, errors, rtol=1e-4)


def test_the_best_scale_makes_units_meaningless():
    one, other = (
        infidelity(QueriedFunction(torch.square), noisy, X, f * SLOPES, target=TARGET, scaled=True, draws=30, generator=seeded(0))
        for f in (1.0, -250.0)
    )
    assert torch.allclose(one, other)
    assert infidelity(linear, noisy, X, 9 * SLOPES, target=TARGET, scaled=True, draws=30).max() < 1e-6
    nothing = infidelity(linear, noisy, X, torch.zeros_like(X), target=TARGET, scaled=True, draws=30)
    assert nothing.isfinite().all()
    assert nothing.min() > 0.1


def test_hidden_features_say_what_they_did():
    rows, by = (torch.cat(part) for part in zip(*drawn(hidden_features(FEATURES, Constant(9.0), rate=0.2), 200), strict=True))
    assert torch.equal(rows == 9.0, by == 1)
    assert by.mean().item() == pytest.approx(0.2, abs=0.03)


def test_groups_share_a_slope():
    features = Groups(groups={"pair": [0, 3]}).fit(torch.randn(20, COUNT).numpy())
    slopes = torch.tensor([[2.0, -1.0, 0.5]]).expand(ROWS, -1)

    @QueriedFunction
    def model(x):
        return (2 * (x[:, 0] + x[:, 3]) - x[:, 1] + 0.5 * x[:, 2])[:, None]

    assert infidelity(model, partial(noisy, features=features), X, slopes, draws=20).max() < 1e-9


@pytest.mark.parametrize("max_rows", [1, 4, 13])
def test_rows_in_flight_are_bounded_and_change_nothing(max_rows):
    seen = []

    def model(x):
        seen.append(len(x))
        return x.square()

    one, other = (infidelity(QueriedFunction(model, most), noisy, X, SLOPES, draws=9, generator=seeded(0)) for most in (10_000, max_rows))
    assert torch.allclose(one, other)
    assert seen[:2] == [ROWS, 9 * ROWS]
    assert max(seen[2:]) <= max_rows


def test_errors():
    with pytest.raises(ValueError, match="draws"):
        infidelity(linear, noisy, X, SLOPES, draws=0)
