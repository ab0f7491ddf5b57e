"""A wide table's columns are screened before anything else is learned."""

import numpy as np
import pytest
import torch
from torch import nn

from lexplain.core import Batch, RealValue, as_target
from lexplain.estimators import MarginalGains
from lexplain.explainers import Explainer
from lexplain.features import Columns, Groups
from lexplain.methods import MIN_GAIN, Parts, Rounds, gains
from lexplain.methods.plans.screen import (
    SCREENED_FROM,
    SCREENED_TO,
    ColumnScreen,
    drop_half,
    permutation_importance,
    screening_rounds,
    unscreened_features,
)
from lexplain.models import Frozen, Trained

COUNT = 40
X = torch.randn(3000, COUNT, generator=torch.Generator().manual_seed(0))
FEATURES = Columns().fit(X.numpy())
REAL = RealValue()


def line(weights, features=FEATURES):
    """A method whose predictor is a line."""
    network = nn.Linear(COUNT, 1, bias=False)
    network.weight.data = torch.tensor([weights], dtype=torch.float32)
    return gains(features, REAL, Parts(predictor=Frozen(network, REAL, to_raw=lambda x: x))).eval()


def test_what_is_not_seen_changes_nothing_and_has_the_lowest_score():
    screen = ColumnScreen(nn.Linear(3, 3), 3, features=3)
    screen.seen[1] = screen.scored[1] = False
    x, other = torch.randn(5, 3), torch.randn(5, 3)
    other[:, [0, 2]] = x[:, [0, 2]]
    assert torch.equal(screen(x), screen(other))
    assert torch.allclose(screen(x)[:, 1].exp(), torch.tensor(MIN_GAIN))
    assert screen.places.tolist() == [0, 2]


def test_what_is_left_is_as_loud_as_all_was():
    screen = ColumnScreen(nn.Identity(), COUNT)
    before = screen(X).square().sum(1).mean()
    screen.seen[4:] = False
    assert float(screen(X).square().sum(1).mean() / before) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(("count", "times"), [(11, 0), (SCREENED_FROM, 0), (SCREENED_FROM + 1, 2), (64, 2), (100, 3), (1000, 6)])
def test_half_of_the_features_go_until_few_are_left(count, times):
    assert screening_rounds(count) == times


def test_a_feature_is_worth_what_the_target_loses_without_it():
    # y is the line's own value, so that resampling a column moves it by w (x - x'), whose mean square is 2 w^2; half of that is the loss
    weights = [1.0, 0.5, *[0.0] * (COUNT - 2)]
    method, batch = line(weights), Batch(X, as_target(X[:, 0] + 0.5 * X[:, 1], real=True))
    found, error = permutation_importance(method, batch, max_rows=10_000)
    assert found[:3].tolist() == pytest.approx([1.0, 0.25, 0.0], abs=0.04)
    # a row's mean square of eight differences w (x - x'): its own x^2 w^2 / 2 varies by w^4 / 2, and the mean of eight x'^2 adds a little
    assert error[0].item() == pytest.approx((0.5 + 0.5 / 8 + 1 / 8) ** 0.5 / len(X) ** 0.5, rel=0.15)
    assert error[2] == 0
    few = batch.take(slice(0, 40))
    torch.manual_seed(0)
    whole = torch.stack(permutation_importance(method, few, max_rows=10_000))
    torch.manual_seed(0)
    assert torch.allclose(whole, torch.stack(permutation_importance(method, few, max_rows=7)), atol=1e-5)  # the work may be split


def test_a_column_that_is_leant_on_by_mistake_is_worth_nothing():
    method = line([1.0, 0.7, *[0.0] * (COUNT - 2)])
    found, _ = permutation_importance(method, Batch(X, as_target(X[:, 0], real=True)), max_rows=10_000)
    assert float(found[0]) > 0.9
    assert abs(float(found[1])) < 0.05  # though the predictor moves by as much as for a column worth 0.49


def test_the_columns_of_a_group_come_and_go_together():
    groups = Groups(groups={"pair": [0, 1]}).fit(X.numpy())
    found, _ = permutation_importance(
        line([1.0, 1.0, *[0.0] * (COUNT - 2)], groups), Batch(X, as_target(X[:, 0] + X[:, 1], real=True)), max_rows=10_000
    )
    assert len(found) == COUNT - 1
    assert float(found.max()) == pytest.approx(2.0, abs=0.15)


def test_the_better_half_stays_and_the_predictor_is_reset(monkeypatch):
    method = gains(FEATURES, REAL)
    value = torch.arange(COUNT).float()
    monkeypatch.setattr("lexplain.methods.plans.screen.permutation_importance", lambda *_, **__: (value.clone(), torch.full((COUNT,), 1e6)))
    before = [weight.clone() for weight in method.predictor.parameters()]
    drop, batch = drop_half(method), Batch(X[:50], as_target(X[:50, 0], real=True))
    drop(batch, 1000)
    assert unscreened_features(method).nonzero()[:, 0].tolist() == list(range(20, 40))
    assert all(not torch.equal(a, b) for a, b in zip(before, method.predictor.parameters(), strict=True) if a.any())
    value[39] = -1.0
    drop(batch, 1000)
    assert unscreened_features(method).sum() == SCREENED_TO
    assert not unscreened_features(method)[39]
    value[0] = 100.0  # what is gone does not come back
    drop(batch, 1000)
    assert not unscreened_features(method)[0]


def test_what_is_surely_worth_something_stays(monkeypatch):
    method = gains(FEATURES, REAL)
    value, error = torch.arange(COUNT).float(), torch.full((COUNT,), 1e6)
    value[0], error[0], value[1], error[1] = 0.31, 0.1, 0.29, 0.1  # three standard errors, and less
    monkeypatch.setattr("lexplain.methods.plans.screen.permutation_importance", lambda *_, **__: (value.clone(), error))
    drop_half(method)(Batch(X[:50], as_target(X[:50, 0], real=True)), 1000)
    assert unscreened_features(method).nonzero()[:, 0].tolist() == [0, *range(20, 40)]


@pytest.mark.parametrize("rate", [0.3, 0.6])
def test_a_rate_is_met_however_wide_the_table(rate):
    x, y = X[:300].numpy(), (X[:300, 7] > 0).numpy().astype(int)
    mask = Explainer(keep=rate, epochs=5, batch_size=100).fit(x, y).explain(x).mask
    assert mask.double().mean().item() == pytest.approx(rate, abs=0.01)


def test_twice_the_requested_number_of_features_stay():
    fifteen = gains(FEATURES, REAL, keep=15)
    dropping = [phase for phase in fifteen.phases() if phase.on_start is not None]
    assert len(dropping) == screening_rounds(COUNT, 30) == 1
    assert not any(phase.on_start for phase in gains(FEATURES, REAL, keep=20).phases())


def test_gains_are_measured_of_what_is_seen():
    method = gains(FEATURES, REAL, plan=Rounds(MarginalGains(draws=2)))
    method.predictor.network.seen[5:] = False
    asked = []
    method.predictor.network.register_forward_pre_hook(lambda _, given: asked.append(len(given[0])))
    goals = next(phase for phase in method.phases() if phase.name == "gains").make_aux_targets(
        Batch(X[:20], as_target(X[:20, 0], real=True)), 10_000
    )
    assert torch.allclose(goals[:, 5:].exp(), torch.tensor(MIN_GAIN))
    assert max(asked) == 20 * (1 + 5)  # each row as it is, and with each of the five turned over


def test_a_predictor_that_is_given_is_not_screened():
    method = gains(FEATURES, REAL, Parts(predictor=nn.Linear(COUNT, 1)))
    assert isinstance(method.predictor, Trained) and not isinstance(method.predictor.network, ColumnScreen)
    assert all(phase.on_start is None for phase in method.phases())


def test_a_wide_fit_finds_the_column_that_decides_and_is_kept_in_a_file(tmp_path):
    x, y = X[:600].numpy(), (X[:600, 7] > 0).numpy().astype(int)
    explainer = Explainer(epochs=40, batch_size=100).fit(x, y)
    mask = explainer.explain(x).mask
    assert mask[:, 7].double().mean() > 0.9
    assert mask.double().mean(0).sort().values[:-SCREENED_TO].sum() == 0  # dropped columns are never kept
    explainer.save(tmp_path / "wide.lex")
    assert np.array_equal(Explainer.load(tmp_path / "wide.lex").explain(x).mask, mask)
