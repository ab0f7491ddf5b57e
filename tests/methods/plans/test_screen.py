"""A wide table's columns are screened before anything else is learned."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import chi2_contingency
from torch import nn

from lexplain.core import Batch, RealValue, as_target
from lexplain.estimators import MarginalGains
from lexplain.explainers import Explainer
from lexplain.features import Columns, Groups
from lexplain.features.columns import MAX_BINS, MIN_BINS
from lexplain.methods import MIN_GAIN, Parts, Rounds, gains
from lexplain.methods.plans import screen
from lexplain.methods.plans.screen import (
    DRAWS,
    SCREENED_FROM,
    SCREENED_TO,
    ColumnScreen,
    drop_half,
    marginal_dependence,
    permutation_importance,
    screening_rounds,
    see_all,
    unscreened_features,
)
from lexplain.models import Frozen, Trained
from lexplain.networks import PiecewiseLinear

COUNT = 40
X = torch.randn(3000, COUNT, generator=torch.Generator().manual_seed(0))
FEATURES = Columns().fit(X.numpy())
REAL = RealValue()
BATCH = Batch(X[:500], as_target(X[:500, 0], real=True))


def line(weights, features=FEATURES):
    """A method whose predictor is a line."""
    network = nn.Linear(COUNT, 1, bias=False)
    network.weight.data = torch.tensor([weights], dtype=torch.float32)
    return gains(features, REAL, Parts(predictor=Frozen(network, REAL, to_raw=lambda x: x))).eval()


def test_what_is_not_seen_changes_nothing_and_has_the_lowest_score():
    network = ColumnScreen(nn.Linear(3, 3), 3, features=3)
    network.seen[1] = network.scored[1] = False
    x, other = torch.randn(5, 3), torch.randn(5, 3)
    other[:, [0, 2]] = x[:, [0, 2]]
    assert torch.equal(network(x), network(other))
    assert torch.allclose(network(x)[:, 1].exp(), torch.tensor(MIN_GAIN))
    assert network.places.tolist() == [0, 2]


def test_what_is_left_is_as_loud_as_all_was():
    network = ColumnScreen(nn.Identity(), COUNT)
    before = network(X).square().sum(1).mean()
    network.seen[4:] = False
    assert float(network(X).square().sum(1).mean() / before) == pytest.approx(1, abs=0.05)


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


def drop(method, value, error=1e6, alone=None, *, last=False):
    """Drop features with this importance, its error, and their dependence alone (by default, features 20 and after)."""
    alone = torch.arange(COUNT).float() if alone is None else alone
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "permutation_importance", lambda *_, **__: (value.clone(), torch.as_tensor(error).expand(COUNT)))
        patch.setattr(screen, "marginal_dependence", lambda *_: alone.clone())
        drop_half(method, last=last)(BATCH, BATCH, 1000)
    return unscreened_features(method).nonzero()[:, 0].tolist()


def test_the_better_half_stays_and_the_predictor_is_reset():
    method, value = gains(FEATURES, REAL), torch.arange(COUNT).float()
    before = [weight.clone() for weight in method.predictor.parameters()]
    assert drop(method, value) == list(range(20, 40))
    assert all(not torch.equal(a, b) for a, b in zip(before[1:4], list(method.predictor.parameters())[1:4], strict=True))
    value[39] = -1.0
    left = drop(method, value, alone=value)
    assert len(left) == SCREENED_TO
    assert 39 not in left
    value[0] = 100.0  # what is gone does not come back
    assert 0 not in drop(method, value, alone=value)


def test_half_of_the_places_go_to_features_that_matter_alone():
    value, alone = torch.arange(COUNT).float(), -torch.arange(COUNT).float()
    assert drop(gains(FEATURES, REAL), value, alone=alone) == [*range(10), *range(30, 40)]


def test_what_is_surely_worth_something_stays():
    value, error = torch.arange(COUNT).float(), torch.full((COUNT,), 1e6)
    value[0], error[0], value[1], error[1] = 0.31, 0.1, 0.29, 0.1  # three standard errors, and less
    assert drop(gains(FEATURES, REAL), value, error) == [0, *range(21, 40)]
    value, error = torch.arange(COUNT).float(), torch.zeros(COUNT)
    assert drop(gains(FEATURES, REAL), value, error) == list(range(1, 40))  # of more than half, all


def test_dependence_alone_is_that_of_chi_square_over_eighths():
    labels = (X[:, 0].abs() > 1).long()
    table = [X[:, 0], X[:, 1], (X[:, 2] > 1.6).float(), (X[:, 2] < 1.6).float(), torch.zeros(len(X))]
    labels[X[:, 2] > 1.6] = 1
    batch = Batch(torch.stack(table, 1), as_target(torch.eye(2)[labels], real=False))
    found = marginal_dependence(batch, Columns().fit(batch.x.numpy()))
    edges = np.quantile(X[:, 0].numpy(), np.linspace(0, 1, 9))[:-1]
    counted = np.histogram2d(np.searchsorted(edges, X[:, 0].numpy()), labels.numpy(), bins=(np.arange(10), np.arange(3)))[0]
    assert found[0].item() == pytest.approx((chi2_contingency(counted).statistic - 8) / 4, rel=1e-4)
    assert abs(found[1].item()) < 3
    assert found[2].item() == pytest.approx(found[3].item(), rel=1e-4)  # a rare value at either end
    assert found[2] > 20
    assert abs(found[4].item()) < 1e-6  # a constant column


def test_a_feature_depends_as_its_strongest_column():
    batch = Batch(X, as_target(X[:, 1], real=True))
    groups = Groups(groups={"pair": [0, 1]}).fit(X.numpy())
    each, together = marginal_dependence(batch, FEATURES), marginal_dependence(batch, groups)
    assert together.max() == each[1] == each.max()
    assert len(together) == COUNT - 1


def test_dependence_of_a_constant_target_is_a_number():
    batch = Batch(X, as_target(torch.ones(len(X)), real=True))
    assert marginal_dependence(batch, FEATURES).isfinite().all()


def test_importance_is_measured_of_what_is_seen():
    method, asked = gains(FEATURES, REAL).eval(), []
    left = drop(method, torch.arange(COUNT).float())
    method.predictor.network.register_forward_pre_hook(lambda _, given: asked.append(1))
    value, _ = permutation_importance(method, BATCH, max_rows=10_000)
    assert len(asked) == 1 + DRAWS * len(left)
    assert (value[:20] == 0).all()


# ---- networks that are rebuilt ----


def bins_of(network):
    """The encoded columns of a network's bins."""
    return network.network.column.tolist() if isinstance(network.network, PiecewiseLinear) else []


def test_networks_read_the_columns_that_are_left_with_more_bins_each():
    method = gains(FEATURES, REAL)
    left = drop(method, torch.arange(COUNT).float())
    for network in (method.predictor.network, method.selector.network):
        assert network.columns.tolist() == left
        assert np.bincount(bins_of(network)).tolist() == [MAX_BINS] * len(left)
        assert torch.equal(network(BATCH.x)[:, -1], network.network(BATCH.x[:, left])[:, -1])
    edges = method.predictor.network.network
    quantiles = np.quantile(BATCH.x[:, left[3]].numpy(), np.linspace(0, 1, 17), method="inverted_cdf")
    assert edges.low[edges.column == 3].tolist() == pytest.approx(quantiles[:-1])  # of the fourth column that is left
    assert torch.allclose(method.selector.network(BATCH.x)[:, :20].exp(), torch.tensor(MIN_GAIN))


def test_a_network_that_cannot_be_rebuilt_is_reset():
    method = gains(FEATURES, REAL)
    method.predictor.network = ColumnScreen(nn.Linear(COUNT, 1), COUNT)
    before = method.predictor.network.network.weight.clone()
    drop(method, torch.arange(COUNT).float())
    assert not torch.equal(method.predictor.network.network.weight, before)


def wide(count):
    """A method of many columns, some of them categorical, and rows."""
    x = torch.randn(60, count, generator=torch.Generator().manual_seed(1)).numpy()
    frame = pd.DataFrame(x).assign(colour=list("abc") * 20)
    features, encoded = Columns().fit_encode(frame)
    return gains(features, REAL), Batch(encoded.x, as_target(encoded.x[:, 0], real=True))


@pytest.mark.parametrize(("count", "bins"), [(99, 0), (60, 6)])
def test_screening_starts_without_bins_if_there_are_many_columns(count, bins):
    method, batch = wide(count)
    see_all(method)(batch, batch, 1000)
    assert np.bincount(bins_of(method.predictor.network), minlength=count).tolist() == [bins] * count
    assert method.predictor.network(batch.x).shape == (60, 1)


def test_after_the_last_drop_many_columns_have_the_bins_of_other_tables(monkeypatch):
    monkeypatch.setattr(screen, "permutation_importance", lambda *_, **__: (torch.ones(100), torch.zeros(100)))  # all are important
    method, batch = wide(99)
    starts = [phase.on_start for phase in method.phases() if phase.on_start is not None]
    for start, bins in zip(starts, (0, 0, 0, MIN_BINS), strict=True):
        start(batch, batch, 1000)
        assert np.bincount(bins_of(method.predictor.network), minlength=99).tolist() == [bins] * 99


def test_a_rebuilt_network_does_not_see_other_columns():
    method = gains(FEATURES, REAL).eval()
    left = drop(method, torch.arange(COUNT).float())
    other = torch.randn_like(BATCH.x)
    other[:, left] = BATCH.x[:, left]
    for network in (method.predictor.network, method.selector.network):
        assert torch.equal(network(BATCH.x), network(other))


@pytest.mark.parametrize("steps", ["all", "dropped"])
def test_a_rebuilt_network_loads_into_a_new_one(steps):
    method, other = gains(FEATURES, REAL).eval(), gains(FEATURES, REAL).eval()
    see_all(method)(BATCH, BATCH, 1000)
    if steps == "dropped":
        drop(method, torch.arange(COUNT).float())
    other.load_state_dict(method.state_dict())
    for ours, theirs in ((method.predictor.network, other.predictor.network), (method.selector.network, other.selector.network)):
        assert torch.equal(ours(BATCH.x), theirs(BATCH.x))
    weights = [id(weight) for weight in other.parameters()]
    other.load_state_dict(method.state_dict())
    assert [id(weight) for weight in other.parameters()] == weights  # an optimiser holds them


def test_a_network_of_an_older_file_reads_all_columns():
    method, other = gains(FEATURES, REAL).eval(), gains(FEATURES, REAL).eval()
    for network in (method.predictor.network, method.selector.network):
        network.seen[:20] = False
    state = method.state_dict()
    names = {"seen", "scored", "column", "low", "width", "weight", "bias", "offset"}
    assert {name.split(".")[-1] for name in state if "network" in name and not name[-1].isdigit()} <= names, "what older files contain"
    other.load_state_dict(state)
    assert torch.equal(other.predictor.network(BATCH.x), method.predictor.network(BATCH.x))
    assert len(bins_of(other.predictor.network)) == 9 * COUNT


def test_a_selector_that_is_given_reads_all_columns():
    method = gains(FEATURES, REAL, Parts(selector=nn.Linear(COUNT, COUNT)))
    weight = method.selector.network.network.weight.clone()
    left = drop(method, torch.arange(COUNT).float())
    assert torch.equal(method.selector.network.network.weight, weight)
    assert method.selector.network.seen.nonzero()[:, 0].tolist() == left


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_networks_are_rebuilt_on_a_gpu():
    method, batch = gains(FEATURES, REAL).cuda().eval(), BATCH.to("cuda")
    see_all(method)(batch, batch, 1000)
    drop_half(method, last=True)(batch, batch, 1000)
    on_gpu = method.predictor.network(batch.x).cpu()
    other = gains(FEATURES, REAL).eval()
    other.load_state_dict({name: value.cpu() for name, value in method.state_dict().items()})
    assert torch.allclose(other.predictor.network(BATCH.x), on_gpu, atol=1e-4)


@pytest.mark.parametrize("rate", [0.3, 0.6])
def test_a_rate_is_met_however_wide_the_table(rate):
    x, y = X[:300].numpy(), (X[:300, 7] > 0).numpy().astype(int)
    mask = Explainer(keep=rate, epochs=5, batch_size=100).fit(x, y).explain(x).mask
    assert mask.double().mean().item() == pytest.approx(rate, abs=0.01)


def test_twice_the_requested_number_of_features_stay():
    fifteen = gains(FEATURES, REAL, keep=15)
    dropping = [phase for phase in fifteen.phases() if phase.on_start is not None]
    assert len(dropping) == 1 + screening_rounds(COUNT, 30) == 2
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
