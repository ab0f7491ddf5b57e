"""From how many rows on a fit is cheaper than KernelSHAP, with a clock that counts model rows."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import lexplain as lx
from lexplain.auditing import kernel_shap, measures
from lexplain.auditing.measures import Case, break_even_lines

pytest.importorskip("shap")
COUNT, KNOWN = 4, 10  # features, background rows
SUBSETS = 2**COUNT - 2  # all but nothing and everything
X = torch.randn(30, COUNT, generator=torch.Generator().manual_seed(0))
FEATURES = lx.Columns().fit(X.numpy())


def case_of(clock, **more):
    """A model that takes a second a row, and an explainer that takes two seconds a row."""

    def says(x):
        clock[0] += len(x)
        return x[:, :2].softmax(1)

    def explain(x):
        clock[0] += 2 * len(x)
        return x

    parts = dict.fromkeys(Case.__dataclass_fields__)
    known = {
        "features": FEATURES,
        "rows": SimpleNamespace(x=X, __len__=lambda: 30),
        "background": X[:KNOWN],
        "seed": 0,
        "fit_seconds": 1000.0,
    }
    return Case(**{**parts, **known, "says": says, "explain": explain, **more})


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(Case, "some", torch.arange(8))


def test_it_pays_from_where_the_fit_is_saved():
    clock = [0.0]
    (line,) = break_even_lines(case_of(clock), lambda: clock[0])
    each = SUBSETS * KNOWN + 1  # model rows of one KernelSHAP: the subsets of the row on every background row, and the row itself
    assert line.estimate.mean == line.estimate.low == line.estimate.high == np.ceil(1000 / (each - 2))
    assert line.estimate.n == measures.PEER_ROWS
    assert (line.label, line.group, line.higher_is_better) == ("Break-even rows, KernelSHAP", "cost", False)
    assert "KernelSHAP (100 background rows" in line.reads


def test_a_hundred_background_rows_at_the_most(monkeypatch):
    monkeypatch.setattr(kernel_shap, "BACKGROUND", 3)
    clock = [0.0]
    (line,) = break_even_lines(case_of(clock), lambda: clock[0])
    assert line.estimate.mean == np.ceil(1000 / (SUBSETS * 3 + 1 - 2))


def test_groups_are_hidden_together_and_numpy_s_numbers_are_left_alone():
    groups, clock = lx.Groups(groups={"a": ["x1", "x2"], "b": ["x3", "x4"]}).fit(X.numpy()), [0.0]
    np.random.seed(3)  # noqa: NPY002
    wanted = np.random.RandomState(3).rand()
    (line,) = break_even_lines(case_of(clock, features=groups), lambda: clock[0])
    assert line.estimate.mean == np.ceil(1000 / (2 * KNOWN + 1 - 2))
    assert np.random.rand() == wanted  # noqa: NPY002


def test_it_can_be_taken_only_with_all_that_it_needs(monkeypatch):
    case = case_of([0.0])
    assert case.peer
    for lacking in ("explain", "says", "fit_seconds"):
        assert not replace(case, **{lacking: None}).peer
    monkeypatch.setattr(measures, "shap_there", lambda: False)
    assert not case.peer


def test_an_explainer_knows_what_its_fit_took_and_its_card_says_when_it_pays(monkeypatch):
    monkeypatch.setattr("lexplain.training.evaluator.JUDGE_STEPS", 5)
    monkeypatch.setattr("lexplain.training.evaluator.READER_STEPS", 5)
    rows = X.repeat(2, 1).numpy() + np.linspace(0, 1, 60)[:, None].astype(np.float32)
    labels = (rows[:, 0] > 0).astype(int)
    explainer = lx.Explainer("realx", keep=1, epochs=1, device="cpu").fit(rows, labels)
    assert explainer.fit_seconds_ > 0
    monkeypatch.setattr(measures, "kernel_shap_seconds", lambda *_, **__: torch.full((5,), 1e6))
    card = lx.audit(explainer.explain(rows), rows, labels, explainer=explainer, measures=["break-even"])
    assert card["Break-even rows, KernelSHAP"].mean == 1
    assert [line.group for line in card.lines][-1] == "cost"
    assert "Break-even rows, KernelSHAP" in card.to_html()
