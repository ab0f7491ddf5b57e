"""The audit tells honest explanations from those whose masks spell the answer."""

import json

import numpy as np
import pytest
import torch

import lexplain as lx
from lexplain.core import Explanation
from lexplain.evaluation import judge

ROWS = 600
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((ROWS, 4)).astype(np.float32)
Y = (X[:, 0] + 0.3 * GENERATOR.standard_normal(ROWS) > 0).astype(int)
SHOWS_THE_CAUSE = np.tile([True, False, False, False], (ROWS, 1))
SPELLS_THE_LABEL = np.stack([np.zeros(ROWS, bool), np.zeros(ROWS, bool), Y == 0, Y == 1], 1)


@pytest.fixture(autouse=True)
def _quick_judges(monkeypatch):
    monkeypatch.setattr("lexplain.training.evaluator.JUDGE_STEPS", 600)
    monkeypatch.setattr("lexplain.training.evaluator.READER_STEPS", 400)


def explained(mask, **more):
    mask = torch.as_tensor(mask)
    return Explanation(mask.float(), mask, tuple("abcd"), data=X, method="made", **more)


def test_a_mask_that_spells_the_label_encodes():
    card = lx.audit(explained(SPELLS_THE_LABEL), X, Y)
    assert card.verdict == "encodes"
    assert card.encodes is True
    assert card["Mask-only ACC"].mean > 0.99
    assert card["eACC"].mean < 0.8 < card["ACC, all features"].mean
    assert card.p_value < 0.01


def test_a_mask_that_shows_the_cause_is_honest():
    card = lx.audit(explained(SHOWS_THE_CAUSE), X, Y, truth=SHOWS_THE_CAUSE, control_flow=0)
    assert card.verdict == "honest"
    assert card.encodes is False
    assert card["eACC"].mean > 0.85
    assert (card["TPR"].mean, card["FDR"].mean, card["CFSR"].mean) == (1, 0, 1)
    page = card.to_html()
    assert "Verdict: honest" in page
    assert json.loads(card.to_json())["verdict"] == "honest"
    assert card.to_frame()["reads"].str.len().min() > 10


def test_rows_to_learn_from_may_be_given():
    half = ROWS // 2
    card = lx.audit(explained(SPELLS_THE_LABEL)[:half], X[:half], Y[:half], train=(X[half:], Y[half:], explained(SPELLS_THE_LABEL)[half:]))
    assert card.verdict == "encodes"


def test_labels_are_read_in_the_classes_of_the_explanation():
    few = Y[:50].copy()
    few[:] = 1
    card = lx.audit(explained(SHOWS_THE_CAUSE, classes=(0, 1))[:50], X[:50], few, train=(X[50:], Y[50:]))
    share = (X[:50, 0] > 0).mean()  # of the rows that a good judge calls 1
    assert abs(card["eACC"].mean - share) < 0.15


@pytest.mark.parametrize(
    ("mean", "word", "encodes"), [(0.2, "encodes", True), (0.0, "honest", False), (0.05, "cannot tell", None), (-0.3, "cannot tell", None)]
)
def test_the_verdict_follows_the_interval(mean, word, encodes):
    values = mean + 0.1 * torch.randn(500, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    values = values - values.mean() + mean
    estimate, verdict = judge(values, margin=0.05)
    assert (verdict.word, verdict.encodes) == (word, encodes)
    assert estimate.low < mean < estimate.high


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [(X[:-1], Y, "the explanation has 600 rows, X 599"), (X, Y[:-1], "the target 599"), (X, Y * 0, "one class only")],
)
def test_rows_that_were_not_explained_are_refused(rows, labels, words):
    with pytest.raises(ValueError, match=words):
        lx.audit(explained(SHOWS_THE_CAUSE), rows, labels)
