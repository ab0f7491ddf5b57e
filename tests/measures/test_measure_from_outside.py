"""A measure made outside the library: below `@measure`, taken by audits and comparisons as it is."""

import numpy as np
import pytest

import lexplain as lx
from lexplain.measures import measure
from lexplain.measures.truth import tpr


@measure("first", label="First", better=None, description="how often the first feature is kept", percent=True, reads=("mask",))
def first(mask):
    return mask[:, 0].double()


@measure("seldom", label="Seldom", better=False, description="share of rows that keep less than half", group="selection")
def seldom(evaluation):
    return (evaluation.mask.double().mean(1) < 0.5).double()


OWN_TPR = tpr.variant("own_tpr", label="Own TPR")
MINE = [first, seldom, first.variant("again", label="Again"), OWN_TPR]


@pytest.fixture(autouse=True)
def _idle_judges(short_judges):
    short_judges(judge=3, reader=3)


def test_an_audit_takes_it():
    x = np.random.default_rng(0).standard_normal((60, 3))
    mask = np.tile([True, False, False], (60, 1))
    card = lx.audit(mask, x, (x[:, 0] > 0).astype(int), truth=mask, measures=MINE)
    assert [card[key].mean for key in ("First", "seldom", "Again", "Own TPR")] == [1, 1, 1, 1]
    assert "how often the first feature is kept" in card.to_html()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_comparison_takes_it_in_this_process_and_in_others(workers):
    found = lx.compare("all", lx.load_data("s3", rows=60), [*MINE, "eACC"], 1, evaluator_steps=3, workers=workers)
    assert found.failures() == []
    assert found.summary().loc[("all", "s3")].drop("eACC").to_dict() == {"First": 1, "Seldom": 0, "Again": 1, "Own TPR": 1}
    assert 0 <= found.summary().loc[("all", "s3"), "eACC"] <= 1
