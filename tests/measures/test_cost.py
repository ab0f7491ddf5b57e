"""Speed, and from how many rows on a fit is cheaper than KernelSHAP, with clocks of our own that may count model rows."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
import torch

import lexplain as lx
from lexplain.core import Explanation
from lexplain.evaluation import Callables, Evaluation, Evaluators, Others, Run
from lexplain.measures import MEASURES, NEEDS, cost
from lexplain.measures.cost import PEER_ROWS, break_even, break_even_estimate, one_by_one, seconds_a_row
from lexplain.models import Problem
from lexplain.training import fabric_of


def test_the_first_call_does_not_count_and_the_median_does():
    now, costs = [0.0], iter([100.0, 3.0, 1.0, 50.0])

    def explain(x):
        now[0] += next(costs)
        return x

    assert seconds_a_row(explain, torch.zeros(10, 2), repeats=3, clock=lambda: now[0]) == pytest.approx(0.3)
    assert now == [154]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_waits_for_the_device():
    x = torch.rand(4000, 4000, device="cuda")
    done = []

    def explain(x):
        for _ in range(20):
            y = x @ x
        done.append(torch.cuda.Event())
        done[-1].record()
        return y

    finished = []
    seconds_a_row(explain, x, repeats=2, clock=lambda: finished.append(done[-1].query()) or 0.0)
    assert all(finished)  # whenever the clock is read, all work is done


@pytest.mark.parametrize(
    ("fit", "own", "peer", "rows"),
    [(60, 0.0, 0.03, 2000), (1, 0.1, 0.6, 2), (1, 0.1, 0.5, 3), (1, 0.5, 0.5, inf), (1, 2, 1, inf), (0, 1, 1, 0), (0, 2, 1, inf)],
)
def test_break_even_by_hand(fit, own, peer, rows):
    assert break_even(fit, own, peer) == rows
    if 0 < rows < inf:
        assert fit + rows * own <= rows * peer
        assert fit + (rows - 1) * own > (rows - 1) * peer


def test_no_rows_raise():
    with pytest.raises(ValueError, match="rows"):
        seconds_a_row(lambda x: x, torch.zeros(0, 2))


def test_rows_are_timed_one_by_one_and_the_first_call_does_not_count():
    now, costs = [0.0], iter([100.0, 3.0, 1.0, 5.0])

    def explain(row):
        now[0] += next(costs)

    assert one_by_one(explain, torch.zeros(3, 2).numpy(), clock=lambda: now[0]).tolist() == [3.0, 1.0, 5.0]


def test_the_rows_that_a_fit_pays_from_have_the_interval_of_the_timed_rows():
    peer = torch.tensor([1.0, 2.0, 3.0])
    found = break_even_estimate(12.0, 0.5, peer)
    assert (found.mean, found.n) == (8, 3)  # 12 / (2 - 0.5)
    assert (found.low, found.high) == (5, 24)  # means of three draws reach from 1 to 3: 12 / 2.5 and 12 / 0.5
    assert break_even_estimate(12.0, 9.0, peer).mean == inf
    assert break_even_estimate(12.0, 1.0, peer).high == inf  # it may be that it never pays


# ---- compared with KernelSHAP ----

COUNT, KNOWN = 4, 10  # features, background rows
SUBSETS = 2**COUNT - 2  # all but nothing and everything
X = torch.randn(30, COUNT, generator=torch.Generator().manual_seed(0))
FEATURES = lx.Columns().fit(X.numpy())


def evaluation_of(clock, features=FEATURES, **more):
    """A model that takes a second a row, and an explainer that takes two seconds a row."""
    pytest.importorskip("shap")

    def says(x):
        clock[0] += len(x)
        return x[:, :2].softmax(1)

    def explain(x):
        clock[0] += 2 * len(x)
        return x

    rows = Problem.of(X.numpy(), (X[:, 0] > 0).long().numpy(), None, features)
    shown = torch.ones(len(X), features.count)
    explanation, run = Explanation(shown, shown.bool(), features.names), Run(fabric_of("cpu"), 0, 1000)
    others, evaluators = Others(rows.batch().take(slice(0, KNOWN))), Evaluators(features, rows.target.outputs, seed=0)
    questions = Callables(**{"predict": says, "explain": explain, "fit_seconds": 1000.0, **more})
    return Evaluation(explanation, features, rows.batch(), rows.target, run, evaluators, others, callables=questions)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(Evaluation, "sampled", torch.arange(8))


def test_it_pays_from_where_the_fit_is_saved():
    clock = [0.0]
    estimate = cost.break_even_rows(evaluation_of(clock), lambda: clock[0])
    each = SUBSETS * KNOWN + 1  # model rows of one KernelSHAP: the subsets of the row on every background row, and the row itself
    assert estimate.mean == estimate.low == estimate.high == np.ceil(1000 / (each - 2))
    assert estimate.n == PEER_ROWS
    measure = MEASURES["break_even_rows"]
    assert (measure.label, measure.group, measure.higher_is_better) == ("Break-even rows, KernelSHAP", "cost", False)
    assert "KernelSHAP (100 background rows" in measure.description


def test_a_hundred_background_rows_at_the_most(monkeypatch):
    monkeypatch.setattr(cost, "BACKGROUND", 3)
    clock = [0.0]
    assert cost.break_even_rows(evaluation_of(clock), lambda: clock[0]).mean == np.ceil(1000 / (SUBSETS * 3 + 1 - 2))


def test_groups_are_hidden_together_and_numpy_s_numbers_are_left_alone():
    groups, clock = lx.Groups(groups={"a": ["x1", "x2"], "b": ["x3", "x4"]}).fit(X.numpy()), [0.0]
    np.random.seed(3)  # noqa: NPY002
    wanted = np.random.RandomState(3).rand()
    assert cost.break_even_rows(evaluation_of(clock, groups), lambda: clock[0]).mean == np.ceil(1000 / (2 * KNOWN + 1 - 2))
    assert np.random.rand() == wanted  # noqa: NPY002


def test_it_can_be_taken_only_with_all_that_it_needs(monkeypatch):
    evaluation = evaluation_of([0.0])
    assert NEEDS["peer"].is_met(evaluation)
    for lacking in ("explain", "predict", "fit_seconds"):
        assert not NEEDS["peer"].is_met(replace(evaluation, callables=replace(evaluation.callables, **{lacking: None})))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not NEEDS["peer"].is_met(evaluation)


def test_an_explainer_stores_the_duration_of_its_fit_and_its_card_has_the_break_even(monkeypatch, short_judges):
    pytest.importorskip("shap")
    short_judges(judge=5, reader=5)
    rows = X.repeat(2, 1).numpy() + np.linspace(0, 1, 60)[:, None].astype(np.float32)
    labels = (rows[:, 0] > 0).astype(int)
    explainer = lx.Explainer("realx", keep=1, epochs=1, device="cpu").fit(rows, labels)
    assert explainer.fit_seconds_ > 0
    monkeypatch.setattr(cost, "kernel_shap_seconds", lambda *_, **__: torch.full((5,), 1e6))
    card = lx.audit(explainer.explain(rows), rows, labels, explainer=explainer, measures=["break-even"])
    assert card["Break-even rows, KernelSHAP"].mean == 1
    assert [line.group for line in card.lines][-1] == "cost"
    assert "Break-even rows, KernelSHAP" in card.to_html()
