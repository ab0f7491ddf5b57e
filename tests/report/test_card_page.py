import re
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest

from lexplain.auditing import Card, CardLine
from lexplain.measures import Estimate
from lexplain.report import card_page
from lexplain.report.card_page import GROUPS, _own_point, _tradeoff, estimate_of, measures_html
from lexplain.report.verdict import LOOKS, MEANINGS

NOTHING = Estimate(nan, nan, nan, 0)
LINES = (
    CardLine("loose", "Loose", Estimate(3.0, 2.0, 4.0, 40), None, "of no group"),
    CardLine("odd", "Odd", Estimate(0.25, 0.2, 0.3, 7), None, "of a group of its own", group="zebra_stripes"),
    CardLine("tpr", "TPR", Estimate(0.9, 0.85, 0.95, 40), True, "share found", percent=True, group="truth"),
    CardLine("kept", "Kept", Estimate(1.5, 1.4, 1.6, 40), None, "features kept", group="selection"),
    CardLine("eacc", "eACC", Estimate(0.8, 0.75, 0.86, 40), True, "right answers", percent=True, group="prediction"),
    CardLine("acc_all", "ACC, all features", Estimate(0.9, 0.85, 0.95, 40), True, "right answers", percent=True, group="prediction"),
    CardLine("encoding", "Encoding", Estimate(0.01, 0.0, 0.02, 40, 0.9), False, "nats told", group="Honesty"),
)
KEPT = pd.DataFrame(
    {"kept": range(5), "eacc": [0.5, 0.7, 0.82, 0.88, 0.91], "low": [0.4, 0.6, 0.7, 0.8, 0.85], "high": [0.6, 0.8, 0.9, 0.95, 0.95]}
)


def card_of(verdict="honest", **fields):
    usual = {"encodes": {"honest": False, "encodes": True}.get(verdict), "why": "the reason is <this>", "lines": LINES}
    return Card(verdict, **{**usual, "method": "realx", "rows": 40, "margin": 0.05, "p_value": 0.97, **fields})


def without_figures(html):
    return re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL)


@pytest.mark.parametrize("verdict", LOOKS)
def test_the_verdict_comes_first_in_word_sign_and_colour(verdict, read):
    html = card_page(card_of(verdict, lines=()))
    style, sign = LOOKS[verdict]
    block = html[html.index("<section") : html.index("</section>")]
    assert f'class="ruling {style}" aria-label="Verdict: {verdict}"' in block
    for said in (sign, verdict, MEANINGS[verdict], "The reason is &lt;this&gt;.", "<dd>40</dd>", "0.05 nats", "p = 0.970"):
        assert said in block
    assert f".ruling.{style}" in html or style == "unsure"
    read(html)


def test_a_verdict_that_nobody_knows_yet_has_a_page(read):
    outline = read(card_page(card_of("<b>new</b>", lines=())))
    assert "<b>new</b>" in "".join(outline.text)


def test_the_whole_page_needs_nothing_else_and_holds_what_was_measured(make, read):
    card = card_of(tradeoff=KEPT, explanation=make())
    html = card_page(card, version="1.2", date="today")
    outline = read(html)
    assert not re.search(r"https?:|//[a-z]|@import|<link|<iframe|<img|<script|\son\w+=", re.sub(r'xmlns(:xlink)?="[^"]*"', "", html))
    assert outline.tags.count("svg") == 4  # how sure, trade-off, map, rates
    titles = re.findall(r"<h2>(.*?)</h2>", html)
    assert titles == [
        "How certain the verdict is",
        "Accuracy against the number of features kept",
        "Example rows",
        "Which features are kept in each row",
        "How often each feature is kept",
        "The measures",
    ]
    assert html.index('class="ruling') < html.index("<nav") < html.index("<h2>")
    assert "Made with lexplain 1.2 on today." in html
    assert html == card_page(card_of(tradeoff=KEPT, explanation=make()), version="1.2", date="today")
    assert card.to_html() == card_page(card)


def test_numbers_of_a_card_are_found_by_their_key():
    renamed = card_of(lines=[replace(line, label=f"another word for {line.key}") for line in LINES])
    assert [estimate_of(renamed, key).mean for key in ("encoding", "eacc", "acc_all", "kept")] == [0.01, 0.8, 0.9, 1.5]
    assert estimate_of(card_of(lines=()), "eacc") is None


def test_the_trade_off_says_what_its_figure_shows(make):
    (section,) = _tradeoff(card_of(tradeoff=KEPT, explanation=make()))
    assert "From the 1.5 features that the explanation keeps, EVAL-X is right in 80.0% of the rows." in section.text
    assert "From all features, EVAL-X is right in 90.0%" in section.text
    assert "From the 2 features with the highest scores" in section.text
    (ax,) = section.figures
    assert [1.5, 0.8] in [line.get_xydata().tolist()[0] for line in ax.lines]
    assert [0.9, 0.9] in [list(line.get_ydata()) for line in ax.lines]


def test_the_trade_off_makes_do_with_less(make):
    bare = card_of(tradeoff=KEPT.assign(eacc=[nan, 0.7, 0.82, 0.88, 0.89]), lines=())
    (section,) = _tradeoff(bare)
    assert "explanation keeps" not in section.text
    assert "From all features, EVAL-X is right in 89.0%" in section.text  # the end of the curve
    assert _tradeoff(card_of(tradeoff=KEPT.iloc[:0])) == _tradeoff(card_of()) == []
    explanation = make()
    known = card_of(lines=[line for line in LINES if line.label == "eACC"], explanation=explanation)
    assert _own_point(known) == pytest.approx((float(explanation.mask.float().sum(1).mean()), 0.8, 0.75, 0.86))
    assert _own_point(replace(known, explanation=None)) is None
    assert _own_point(replace(known, explanation=explanation[:0])) is None


def test_an_open_verdict_says_how_many_rows_would_settle_it():
    estimate = Estimate(0.06, 0.025, 0.097, 500, 0.9)
    html = card_page(card_of("cannot tell", lines=(CardLine("encoding", "Encoding", estimate, False, "nats"),), rows=500))
    assert "6,200 rows" in html
    assert "90% interval 0.025 to 0.097" in html
    assert "encoding alone" not in html


def test_a_verdict_for_other_reasons_does_not_hide_what_the_encoding_says():
    assert "about the encoding alone" in card_page(card_of("off the data"))


def test_groups_come_in_their_order_then_unknown_ones_then_the_rest():
    html = measures_html(card_of())
    words = {word: title for word, title, _ in GROUPS}
    known = [words[word] for word in ("honesty", "prediction", "selection", "truth")]
    assert re.findall(r"<h3>(.*?)</h3>", html) == [*known, "Zebra stripes", "Other measures"]
    assert re.findall(r'<th scope="row">(.*?)</th>', html) == ["Encoding", "eACC", "ACC, all features", "Kept", "TPR", "Odd", "Loose"]


def test_lines_are_written_with_interval_direction_and_how_to_read_them():
    lines = (
        *LINES,
        CardLine("none", "None", NOTHING, False, "could not be", percent=True),
        CardLine("tiny", "Tiny", Estimate(-1e-9, -1e-9, 0.0, 40), None, "nothing"),
    )
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", measures_html(card_of(lines=lines)))]
    assert ["Encoding", "0.010", "0.000 to 0.020 (90%)", "↓ lower", "nats told"] in cells
    assert ["eACC", "80.0%", "75.0 to 86.0", "↑ higher", "right answers"] in cells
    assert ["Odd", "0.250", "0.200 to 0.300 (7 rows)", "– neither", "of a group of its own"] in cells
    assert ["None", "not measured", "–", "↓ lower", "could not be"] in cells
    assert ["Tiny", "0.000", "0.000 to 0.000", "– neither", "nothing"] in cells


def test_nothing_measured_is_a_page_too(read):
    nothing = tuple(replace(line, estimate=NOTHING) for line in LINES)
    html = card_page(card_of("cannot tell", lines=nothing, tradeoff=KEPT, p_value=nan))
    assert "could not be measured" in html
    assert "nan" not in re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL).lower()
    assert read(html).tags.count("svg") == 1  # the trade-off
    assert "svg" not in read(card_page(Card("cannot tell", None, "too few rows", ()))).tags


def test_one_row_of_many_hard_names_has_a_page(make, hard_names, read):
    names = (*hard_names, *(f"gene {j}" for j in range(294)))
    estimate = Estimate(0.02, 0.02, 0.02, 1, 0.9)
    line = CardLine("<script>k</script>", "<script>x</script>", estimate, None, "<script>y</script>", group="<script>z</script>")
    lines = (
        CardLine("encoding", "Encoding", estimate, False, "nats"),
        line,
        CardLine("eacc", "eACC", Estimate(1.0, 1.0, 1.0, 1), True, "right", percent=True),
    )
    curve = pd.DataFrame({"kept": np.arange(301), "eacc": 1.0, "low": 1.0, "high": 1.0})
    explanation = make(rows=1, names=names)
    card = card_of(lines=lines, method="<script>m</script>", rows=1, tradeoff=curve, explanation=explanation)
    html = card_page(card)
    outline = read(html)
    assert outline.tags.count("svg") == 4
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    text = "".join(outline.text)
    assert all(f"<script>{letter}</script>" in text for letter in "mxyz")
    assert "1 row of 1" in without_figures(html)


def test_an_explanation_of_no_row_is_left_out(make, read):
    html = card_page(card_of(lines=(), explanation=make()[:0], rows=0))
    assert "0 rows, 4 features." in html
    assert "Example rows" not in html
    read(html)
