"""How much to keep, found by the fit itself; and what a fit says about itself."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from lightning_fabric import Fabric
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from lexplain.core import Batch, Classes, as_target
from lexplain.estimators import MarginalGains
from lexplain.explainers import Explainer, FitWarning
from lexplain.explainers.card import _costs, greedy_search
from lexplain.explainers.findings import findings
from lexplain.explainers.path import POINTS, choose_point, combine_evaluators, compute_path, path_evaluator
from lexplain.features import Columns
from lexplain.methods import PRICE, Parts, Rounds, gains, realx
from lexplain.models import Frozen
from lexplain.networks import Selector

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(600, 4))
Y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
FEATURES = Columns().fit(X)
OUTPUTS = Classes(2)


@pytest.fixture(scope="module")
def fitted():
    return Explainer(epochs=80, batch_size=100).fit(X, Y)


class TwoColumns(torch.nn.Module):
    """A network that reads two columns, the first more."""

    def forward(self, x):
        said = 3 * x[:, 0] + x[:, 1]
        return torch.stack([-said, said], 1)


class Says(torch.nn.Module):
    """A network that says the same log-gains of every row."""

    def __init__(self, *gains):
        super().__init__()
        self.gains = torch.nn.Parameter(torch.tensor(gains).log())

    def forward(self, x):
        return self.gains.expand(len(x), -1)


def known(*log_gains):
    """A method whose predictor and gains are known."""
    method = gains(FEATURES, OUTPUTS, Parts(predictor=Frozen(TwoColumns(), OUTPUTS, to_raw=lambda x: x)))
    method.selector = Selector(Says(*log_gains), method.selector.family)
    return method.eval().requires_grad_(False)


def rows(count=200):
    x = FEATURES.encode(X[:count]).x
    return Batch(x, as_target(torch.eye(2)[torch.as_tensor(Y[:count])], real=False))


# ---- the path ----


def test_the_path_goes_from_everything_to_nothing():
    path = compute_path(known(0.3, 0.03, 0.003, 0.0003), rows(), None, max_rows=10_000)
    assert path["price"].is_monotonic_increasing
    assert (path["kept"].diff().dropna() <= 0).all()
    assert path["kept"].iloc[0] == 4
    assert path["kept"].iloc[-1] == 0
    shown = path.groupby("kept")["cost"].first()
    assert shown[4.0] == pytest.approx(0, abs=1e-6)
    assert shown[2.0] == pytest.approx(0, abs=1e-6)  # what the network does not read costs nothing
    assert 0.01 < shown[1.0] < shown[0.0]
    assert (path["cost_low"] <= path["cost"] + 1e-12).all()
    assert (path["cost"] <= path["cost_high"] + 1e-12).all()


@pytest.fixture
def usual_draws(monkeypatch):
    """As many imputations of a path's costs as outside of the tests."""
    monkeypatch.setattr("lexplain.explainers.path.DRAWS", 8)


@pytest.mark.usefixtures("usual_draws")
def test_the_cost_is_that_of_drawing_anew_what_is_hidden():
    batch = rows(400)
    path = compute_path(known(0.3, 0.03, 0.003, 0.0003), batch, None, max_rows=10_000)
    torch.manual_seed(1)
    p = TwoColumns()(batch.x).log_softmax(1)
    drawn = torch.randn(500, 400)
    costs = []
    for values in drawn:
        other = batch.x.clone()
        other[:, 1] = values
        costs.append((p.exp() * (p - TwoColumns()(other).log_softmax(1))).sum(1).mean())
    assert path.groupby("kept")["cost"].first()[1.0] == pytest.approx(float(torch.stack(costs).mean()), rel=0.15)


@pytest.mark.usefixtures("usual_draws")
def test_the_work_may_be_split():
    torch.manual_seed(0)
    whole = compute_path(known(0.3, 0.03, 0.003, 0.0003), rows(), None, max_rows=1_000_000)
    parts = compute_path(known(0.3, 0.03, 0.003, 0.0003), rows(), None, max_rows=100)
    assert whole["kept"].tolist() == parts["kept"].tolist()
    assert np.allclose(whole["cost"], parts["cost"], rtol=0.2, atol=1e-3)


def test_by_default_a_feature_is_kept_for_a_fixed_price(fitted):
    chosen = fitted.path_.query("chosen")
    assert chosen["price"].tolist() == [PRICE]
    assert float(fitted.method_.selector.offset) == pytest.approx(-np.log(PRICE))
    assert len(fitted.path_) == POINTS + 1
    assert fitted.path_["price"].is_monotonic_increasing
    assert fitted.explain(X).mask[:, 2:].float().mean() < 0.1 < fitted.explain(X).mask[:, :2].float().mean()


@pytest.mark.parametrize("how", [{"keep": "auto"}, {"tolerance": 0.05}])
def test_a_tolerance_and_a_model_choose_on_the_path(how):
    explainer = Explainer(epochs=5, **how).fit(X, Y)
    assert len(explainer.path_) == POINTS and PRICE not in set(explainer.path_["price"])
    surrogate = Explainer(epochs=5).fit(X, model=lambda rows: np.stack([1 - (rows[:, 0] > 0), rows[:, 0] > 0], 1).astype(float))
    assert PRICE not in set(surrogate.path_["price"])


def test_real_values_have_the_price_in_standardised_units():
    values = 1000 * (X[:, 0] + 0.5 * X[:, 1])
    assert Explainer(epochs=5).fit(X, values).path_.query("chosen")["price"].tolist() == [PRICE]


def test_the_sparsest_point_within_a_tolerance_is_chosen():
    method, batch = known(0.3, 0.03, 0.003, 0.0003), rows()
    table = pd.DataFrame({"price": [1, 2, 3, 4], "kept": [4, 3, 2, 1], "cost": [0, 0.01, 0.05, 0.3], "eacc": [0.9, 0.9, 0.86, 0.84]})
    table["eacc_of_all"] = 0.9
    for nats, price in [(0.5, 4), (0.06, 3), (0.01, 2), (1e-9, 1)]:
        assert choose_point(table, method, batch, nats=nats).query("chosen")["price"].tolist() == [price]
    for points, price in [(7, 4), (5, 3), (1, 2)]:
        assert choose_point(table, method, batch, points=points).query("chosen")["price"].tolist() == [price]
    lucky = table.assign(eacc=[0.9, 0.9, 0.8, 0.88])  # hiding more cannot help: the last is luck
    assert choose_point(lucky, method, batch, points=5).query("chosen")["price"].tolist() == [2]
    assert choose_point(table.assign(cost=9.0), method, batch, nats=0.1).query("chosen")["price"].tolist() == [1]  # nothing is: the densest


class Echo:
    """An evaluator that returns the first value of each row, so that its rows are known."""

    def __init__(self, name):
        self.name = name

    def probabilities(self, x, mask, valid=None):
        return torch.stack([x[:, 0], torch.full((len(x),), float(self.name))], 1)


def test_every_row_is_asked_of_the_judge_that_did_not_learn_from_it():
    batch, order = rows(), torch.randperm(len(rows()), generator=torch.Generator().manual_seed(0))
    judge = combine_evaluators([(part, Echo(name)) for name, part in enumerate(order.chunk(3))])
    said = judge(batch, torch.ones(len(batch), 4).bool(), 7)
    assert torch.equal(said[:, 0], batch.x[:, 0])
    for name, part in enumerate(order.chunk(3)):
        assert (said[part, 1] == name).all()


@pytest.mark.parametrize(("few", "decides", "count"), [(1000, True, 600), (50, True, 100), (1000, False, 100)])
def test_few_rows_are_all_judged_where_the_judge_decides(monkeypatch, few, decides, count, short_judges):
    monkeypatch.setattr("lexplain.explainers.path.MIN_VALIDATION_ROWS", few)
    short_judges(judge=60)
    batch = rows()
    every = batch.take(torch.arange(600) % len(batch))
    train, validation = every.take(slice(0, 500)), every.take(slice(500, None))
    judge, judged = path_evaluator(
        known(0.3, 0.03, 0.003, 0.0003), train, validation, decides=decides, fabric=Fabric(accelerator="cpu"), seed=0
    )
    assert len(judged) == count
    assert judge(judged, torch.ones(count, 4).bool(), 50).shape == (count, 2)


# ---- the Explainer ----


def test_the_default_chooses_how_much_to_keep(fitted):
    assert fitted.path_["chosen"].sum() == 1
    assert {"price", "kept", "cost", "cost_low", "cost_high", "eacc", "eacc_low", "eacc_high", "eacc_of_all"} <= set(fitted.path_)
    mask = fitted.transform(X)
    assert mask[:, 0].mean() > 0.9
    assert mask[:, 2:].mean() < 0.2
    price = fitted.path_.query("chosen")["price"].item()
    scores = fitted.explain(X).scores.numpy()
    gain = price * scores / (1 - scores)  # a score is gain / (gain + price)
    assert ((gain > price) == mask).mean() > 0.999


def test_the_tolerance_is_heeded(fitted):
    loose = Explainer(epochs=80, batch_size=100, tolerance=0.4).fit(X, Y)
    chosen = loose.path_.query("chosen").iloc[0]
    assert chosen["cost"] <= 0.4
    assert (loose.path_.loc[loose.path_["price"] > chosen["price"], "cost"] > 0.4).all()
    assert loose.transform(X).mean() < fitted.transform(X).mean()


def test_points_of_accuracy_may_be_the_tolerance(monkeypatch):
    monkeypatch.setattr("lexplain.explainers.path.EVALUATOR_STEPS", 300)
    monkeypatch.setattr("lexplain.explainers.path.POINTS", 41)
    explainer = Explainer(epochs=80, batch_size=100, tolerance_points=5).fit(X, Y)
    chosen = explainer.path_.query("chosen").iloc[0]
    assert chosen["eacc"] >= chosen["eacc_of_all"] - 0.05
    sparser = explainer.path_[explainer.path_["price"] > chosen["price"]]
    # however many of the next points are taken together, they lose more than the share of the tolerance that is used
    assert sparser["eacc"].expanding().mean().max() < chosen["eacc_of_all"] - 0.9 * 0.05


def test_more_rounds_are_kept_while_they_save_features(monkeypatch):
    monkeypatch.setattr("lexplain.explainers.path.POINTS", 21)
    plain = Explainer(epochs=6, batch_size=100).fit(X, Y)
    kept, states = iter([3.0, 2.0, 2.5]), []

    def chosen(path, method, batch, **tolerance):
        states.append({name: value.clone() for name, value in method.state_dict().items()})
        return path.assign(chosen=np.arange(len(path)) == 10, kept=next(kept))

    monkeypatch.setattr("lexplain.explainers.path.choose_point", chosen)
    explainer = Explainer(epochs=6, batch_size=100, tolerance_points=5).fit(X, Y)
    assert len(states) == 3  # the first walk, a round that saved a feature, and one that did not
    assert explainer.path_["kept"].iloc[0] == 2.0
    after = explainer.method_.state_dict()
    learned = [name for name in after if not name.endswith("offset")]
    assert all(torch.equal(after[name], states[1][name]) for name in learned)  # the last round is undone
    assert not all(torch.equal(after[name], states[0][name]) for name in learned)
    phases = explainer.history_["phase"].tolist()
    assert phases[-1] == "gains"
    assert len(phases) > len(plain.history_)


def test_real_values_have_a_path_without_accuracy():
    explainer = Explainer(epochs=40, batch_size=100).fit(X, X[:, 0] * 3 + X[:, 1])
    assert "eacc" not in explainer.path_
    assert explainer.transform(X)[:, 0].mean() > 0.9


@pytest.mark.parametrize("keep", [1, 3])
def test_k_is_met_exactly(keep):
    assert (Explainer(keep=keep, epochs=10, batch_size=200).fit(X, Y).transform(X).sum(1) == keep).all()


@pytest.mark.parametrize("rate", [0.25, 0.4])
def test_a_rate_is_met_within_a_percent(rate):
    assert Explainer(keep=rate, epochs=10, batch_size=200).fit(X, Y).transform(X).mean() == pytest.approx(rate, abs=0.01)


def test_the_path_is_kept_in_the_file(fitted, tmp_path):
    fitted.save(tmp_path / "e.lex")
    again = Explainer.load(tmp_path / "e.lex")
    pd.testing.assert_frame_equal(again.path_, fitted.path_)
    assert again.findings_ == fitted.findings_
    assert (again.transform(X) == fitted.transform(X)).all()


def test_without_a_path_there_is_none():
    assert Explainer(keep=2, epochs=2).fit(X, Y).path_ is None


def test_the_path_can_be_drawn(fitted):
    ax = fitted.plot_path()
    chosen = fitted.path_.query("chosen").iloc[0]
    assert ax.get_legend().get_texts()[0].get_text().startswith(f"chosen: {chosen['kept']:.1f} features at ")
    assert len(ax.figure.axes) == 2
    given = Figure().add_subplot()
    assert fitted.plot_path(given) is given


def test_a_path_that_is_not_there_cannot_be_drawn():
    with pytest.raises(NotFittedError):
        Explainer().plot_path()
    with pytest.raises(ValueError, match=r"no path.*keep='auto'"):
        Explainer(keep=2, epochs=2).fit(X, Y).plot_path()


def test_a_method_of_rounds_built_from_parts_may_choose_too():
    built = gains(FEATURES, OUTPUTS, plan=Rounds(MarginalGains(draws=2), rounds=1))
    assert Explainer(built, epochs=10).fit(X, Y).path_["chosen"].sum() == 1
    priced = gains(FEATURES, OUTPUTS, penalty=0.1)
    assert Explainer(priced, epochs=10).fit(X, Y).path_ is None


def test_judging_rows_are_apart(fitted):
    splits = fitted.splits_
    parts = [splits.train.x, splits.validation.x, splits.test.x]
    assert sum(len(part) for part in parts) == len(X)
    assert len(torch.unique(torch.cat(parts), dim=0)) == len(X)
    assert len(splits.test) >= 5


# ---- findings ----


@pytest.mark.parametrize(
    ("log_gains", "words"),
    [
        ((1e-9, 1e-9, 1e-9, 1e-9), "keep no feature"),
        ((1.0, 1.0, 1.0, 1.0), "keep every feature"),
        ((1.0, 1.0, 1e-9, 1e-9), "same features"),
    ],
    ids=["nothing", "everything", "one set"],
)
def test_a_collapse_is_a_finding(log_gains, words):
    method = known(*log_gains)
    method.selector.offset.fill_(-np.log(0.1))
    (finding,) = findings(method, rows(), "self", max_rows=64)
    assert words in finding


def test_a_predictor_without_information_is_a_finding():
    class Nothing(torch.nn.Module):
        def forward(self, x):
            return 0 * x[:, :2] + 0.3

    method = gains(FEATURES, OUTPUTS, Parts(predictor=Frozen(Nothing(), OUTPUTS, to_raw=lambda x: x))).eval()
    assert "(0.0000 nats" in findings(method, rows(), "self", max_rows=64)[-1]
    assert not any("nats" in finding for finding in findings(known(0.3, 0.3, 1e-4, 1e-4), rows(), "self", max_rows=64))


def test_a_surrogate_that_misses_the_model_is_a_finding():
    def erratic(rows):
        chance = (np.sin(1e4 * rows.sum(1)) > 0) * 0.98 + 0.01
        return np.stack([1 - chance, chance], 1)

    with pytest.warns(FitWarning, match=r"surrogate .* \d+%"):
        Explainer(epochs=20, batch_size=100).fit(X, model=erratic)


def test_a_good_fit_has_no_findings():
    assert Explainer(epochs=80, batch_size=100, keep="auto").fit(X, Y).findings_ == []


def test_a_global_selection_is_a_finding(fitted):
    assert fitted.explain(X).mask[:, :2].all()  # both columns matter in every row
    assert len(fitted.findings_) == 1 and "every row keeps the same features" in fitted.findings_[0]


# ---- refusals ----


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"keep": "some"}, "keep must be .*'auto', got 'some'"),
        ({"method": "l2x", "keep": "auto"}, "keep='auto' .*'gains'"),
        ({"method": "realx", "tolerance": 0.1}, "tolerance .*keep='auto'"),
        ({"keep": 2, "tolerance_points": 5}, "tolerance .*keep='auto'"),
        ({"tolerance": 0.1, "tolerance_points": 5}, "tolerance=0.1 .*tolerance_points=5"),
        ({"tolerance": -1}, "tolerance must be .*-1"),
        ({"budget": "huge"}, "Unknown budget 'huge'. Choose one of: default, thorough"),
        ({"keep": "auto", "penalty": 0.1}, "not both"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        Explainer(**settings).fit(X, Y)


def test_real_values_have_no_points_of_accuracy():
    with pytest.raises(ValueError, match=r"tolerance_points .*real values"):
        Explainer(tolerance_points=5).fit(X, X[:, 0])


def test_a_method_built_from_parts_says_itself_what_it_keeps():
    with pytest.raises(ValueError, match=r"Method .*\['keep'\]"):
        Explainer(realx(FEATURES, OUTPUTS), keep="auto").fit(X, Y)


# ---- its own card ----


def test_a_search_finds_what_the_network_reads():
    method, batch = known(0.3, 0.03, 0.003, 0.0003), rows(60)
    start = torch.tensor([False, False, True, True]).expand(60, 4)
    found, began, ended = greedy_search(method, batch, start, 0.001)
    assert (ended <= began).all()
    assert found[:, :2].float().mean() > 0.85
    assert not found[:, 2:].any()
    again, _, same = greedy_search(method, batch, found, 0.001)
    assert torch.equal(again, found)
    assert torch.allclose(same, ended)


def test_a_search_is_as_good_as_trying_every_mask():
    method, batch = known(0.3, 0.03, 0.003, 0.0003), rows(40)
    every = torch.tensor(list(product([False, True], repeat=4)))[:, None].expand(16, 40, 4)
    least = _costs(method, batch, every, 0.01).min(0).values
    _, _, ended = greedy_search(method, batch, torch.zeros(40, 4).bool(), 0.01)
    assert (ended >= least - 1e-5).all()
    assert (ended <= least + 1e-5).float().mean() > 0.9  # one feature at a time may end in a dead end, seldom


def test_a_fitted_explainer_carries_its_card(fitted, short_judges):
    short_judges(judge=100, reader=100)
    card = fitted.card_
    assert card is fitted.card_
    assert card.rows == len(fitted.splits_.test)
    assert card.verdict in ("honest", "encodes", "cannot tell")
    assert card["Fidelity"].mean > 0.7
    assert card["Amortisation gap"].low >= 0
    assert 0 < card["Commonest mask"].mean <= 1
    assert card["eACC"].n == card.rows


def test_a_loaded_explainer_has_no_rows_to_be_judged_by(fitted, tmp_path):
    fitted.save(tmp_path / "e.lex")
    with pytest.raises(ValueError, match=r"lx\.audit"):
        _ = Explainer.load(tmp_path / "e.lex").card_
