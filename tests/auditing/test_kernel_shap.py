"""From how many rows on a fit is cheaper than KernelSHAP, with a clock that counts model rows."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import lexplain as lx
from lexplain.auditing import MEASURES, NEEDS, kernel_shap, measure as measures
from lexplain.auditing.kernel_shap import PEER_ROWS
from lexplain.auditing.measures import cost
from lexplain.core import Explanation
from lexplain.evaluation import Evaluation, Evaluators, Others, Questions, Run
from lexplain.models import Problem
from lexplain.training import fabric_of

pytest.importorskip("shap")
COUNT, KNOWN = 4, 10  # features, background rows
SUBSETS = 2**COUNT - 2  # all but nothing and everything
X = torch.randn(30, COUNT, generator=torch.Generator().manual_seed(0))
FEATURES = lx.Columns().fit(X.numpy())


def evaluation_of(clock, features=FEATURES, **more):
    """A model that takes a second a row, and an explainer that takes two seconds a row."""

    def says(x):
        clock[0] += len(x)
        return x[:, :2].softmax(1)

    def explain(x):
        clock[0] += 2 * len(x)
        return x

    rows = Problem.of(X.numpy(), (X[:, 0] > 0).long().numpy(), None, features)
    shown = torch.ones(len(X), features.count)
    explanation, run = Explanation(shown, shown.bool(), features.names), Run(fabric_of("cpu"), 0, 1000)
    others, evaluators = Others(rows.trial().take(slice(0, KNOWN))), Evaluators(features, rows.target.outputs, seed=0)
    questions = Questions(**{"says": says, "explain": explain, "fit_seconds": 1000.0, **more})
    return Evaluation(explanation, features, rows.trial(), rows.target, run, evaluators, others, questions=questions)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(Evaluation, "some", torch.arange(8))


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
    monkeypatch.setattr(kernel_shap, "BACKGROUND", 3)
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
    assert NEEDS["peer"].there(evaluation)
    for lacking in ("explain", "says", "fit_seconds"):
        assert not NEEDS["peer"].there(replace(evaluation, questions=replace(evaluation.questions, **{lacking: None})))
    monkeypatch.setattr(measures, "shap_there", lambda: False)
    assert not NEEDS["peer"].there(evaluation)


def test_an_explainer_knows_what_its_fit_took_and_its_card_says_when_it_pays(monkeypatch, short_judges):
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
