import re
from itertools import pairwise
from math import inf, nan

import pytest
import torch

from lexplain.auditing import Card, decide_verdict
from lexplain.measures import Estimate
from lexplain.report.verdict import (
    LOOKS,
    TOO_WEAK,
    certainty_text,
    margin_words,
    p_value_words,
    rows_to_settle,
    verdict_style,
    zone_of,
    zones,
)


def values_of(mean, spread, rows=400):
    """Values with exactly this mean and standard deviation."""
    drawn = torch.randn(rows, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    return mean + spread * (drawn - drawn.mean()) / drawn.std()


@pytest.mark.parametrize("mean", [-0.3, -0.09, -0.05, -0.02, 0.0, 0.03, 0.05, 0.07, 0.12, 2.0])
@pytest.mark.parametrize("spread", [0.0, 0.1, 0.4])
def test_zones_agree_with_the_test_that_gives_the_verdict(mean, spread):
    estimate, verdict = decide_verdict(values_of(mean, spread), margin=0.05)
    word = zone_of(estimate, 0.05)
    assert (verdict.word, estimate.high < -0.05) == ("cannot tell" if word == TOO_WEAK else word, word == TOO_WEAK)
    inside = [zone for zone, begin, end in zones(estimate, 0.05) if begin < estimate.mean < end]
    assert inside in ([word], [])  # none: on a border


def test_zones_cover_the_line_once():
    parts = zones(Estimate(0.06, 0.02, 0.11, 500), 0.05)
    assert (parts[0][1], parts[-1][2]) == (-inf, inf)
    assert all(one[2] == two[1] for one, two in pairwise(parts))


@pytest.mark.parametrize(("mean", "word"), [(0.07, "encodes"), (0.035, "honest")])
def test_as_many_rows_as_said_settle_it(mean, word):
    estimate, verdict = decide_verdict(values_of(mean, 0.5), margin=0.05)
    assert verdict.word == "cannot tell"
    needed = rows_to_settle(estimate, 0.05)
    assert decide_verdict(values_of(mean, 0.5, int(1.15 * needed)), margin=0.05)[1].word == word
    assert decide_verdict(values_of(mean, 0.5, int(0.85 * needed)), margin=0.05)[1].word == "cannot tell"


def test_rows_that_would_settle_it_are_said_and_rounded_up():
    said = certainty_text(Estimate(0.06, 0.025, 0.097, 500, 0.9), 0.05)
    assert all(fact in said for fact in ("6,200 rows", "above the margin", "500"))  # 500 (0.035 / 0.01)^2 = 6,125
    assert "about 1,100 rows are needed for an interval that is entirely below" in certainty_text(
        Estimate(0.03, 0.0, 0.059, 500, 0.9), 0.05
    )  # 500 (29 / 20)^2 = 1,051
    assert "no practical number of rows" in certainty_text(Estimate(0.05, 0.02, 0.08, 500), 0.05)
    assert "no practical number of rows" in certainty_text(Estimate(0.0501, 0.02, 0.08, 500), 0.05)


def test_a_settled_verdict_says_how_far_it_is_from_another():
    assert "0.308 nats above it" in certainty_text(Estimate(0.4, 0.358, 0.444, 500), 0.05)
    assert "0.025 nats below it" in certainty_text(Estimate(0.01, -0.004, 0.025, 500), 0.05)
    assert "more training rows" in certainty_text(Estimate(-0.2, -0.3, -0.1, 500), 0.05)
    assert "could not be measured" in certainty_text(Estimate(nan, nan, nan, 0), 0.05)


@pytest.mark.parametrize(
    ("encodes", "p", "said"),
    [
        (True, 0.0000001, "p < 0.001: .*as high as this .* fewer than 1 of 1,000 audits"),
        (True, 0.004, "p = 0.004: .*as high as this .* about 4 of 1,000 audits"),
        (None, 0.327, "p = 0.327: .*as high as this .* about 33 of 100 audits"),
        (False, 0.97, "p = 0.970: .*as low as this .* about 3 of 100 audits"),
        (False, 1.0, "p > 0.999: .*as low as this .* fewer than 1 of 1,000 audits"),
        (None, 0.9999, "p > 0.999: .*as high as this .* more than 999 of 1,000 audits"),
        (None, nan, "not computed"),
    ],
)
def test_p_values_are_said_in_words(encodes, p, said):
    assert re.fullmatch(said, p_value_words(Card("", encodes, "", (), p_value=p)))


def test_a_margin_is_said_in_words():
    assert all(fact in margin_words(0.05) for fact in ("0.05 nats", "5.1%"))


def test_verdicts_differ_in_their_sign_too():
    assert len({sign for _, sign in LOOKS.values()}) == len({style for style, _ in LOOKS.values()}) == 4
    assert verdict_style("a verdict of tomorrow") == verdict_style("cannot tell")
