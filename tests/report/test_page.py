import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from lexplain.report import Section, cost, feature_rates, page, row_bars

COST = pd.DataFrame(
    {"method": ["realx", "shap"], "ms": [0.0042, 812.0], "verdict": ["honest", "encodes the answer"], "fast": [True, False]}
)


@pytest.fixture
def sections(make):
    return [
        Section("What it costs", "One paragraph.\n\nAnother <b>one</b>.", [cost(COST), row_bars(make(), 0)], COST),
        Section("How often & why", figures=[feature_rates(make())], html="<p class='own'>mine</p>"),
    ]


def test_page_is_complete_and_needs_nothing_else(sections, read):
    html = page("A title", "The result.", sections, version="9.8.7", date="2031-02-03")
    outline = read(html)
    assert html.startswith("<!doctype html>")
    assert not re.search(r"https?:|//[a-z]|@import|<link|<iframe|<img", re.sub(r'xmlns(:xlink)?="[^"]*"', "", html))
    assert outline.tags.count("svg") == 3
    assert outline.tags.count("figure") == 3
    assert "Made with lexplain 9.8.7 on 2031-02-03." in html
    assert [target for target in outline.references if re.fullmatch(r"#s\d+", target)] == ["#s1", "#s2"]


def test_same_arguments_give_the_same_page(sections):
    assert page("A", "B", sections) == page("A", "B", sections)
    assert "Made with lexplain." in page("A", "B", [])


def test_two_figures_of_one_kind_share_no_id(make, read):
    read(page("A", "B", [Section("C", figures=[row_bars(make(), 0), row_bars(make(), 0)])]))


def test_every_text_is_escaped_but_the_callers_own_html(read):
    bad = "<script>alert('x')</script>"
    table = pd.DataFrame({bad: [bad], "verdict": [bad]}, index=pd.Index([bad], name=bad))
    ax = cost(COST.assign(method=bad))
    ax.set_title(bad)
    html = page(bad, bad, [Section(bad, bad, [ax], table), Section("x", html="<p id='mine'>kept</p>")], version=bad, date=bad)
    outline = read(html)
    assert "<script" not in html
    assert "<p id='mine'>kept</p>" in html
    assert "".join(outline.text).count(bad) > 8


def test_what_stands_at_the_top_stands_before_the_contents(sections):
    html = page("A", "B", sections, top="<p id='first'>mine</p>")
    assert html.index("</header>") < html.index("<p id='first'>mine</p>") < html.index("<nav")


def test_text_becomes_paragraphs(sections):
    html = page("A", "B", sections)
    assert "<p>One paragraph.</p>\n<p>Another &lt;b&gt;one&lt;/b&gt;.</p>" in html


def test_table_cells_are_written_for_people():
    table = pd.DataFrame({"name": ["a", "b"], "share": [0.5, np.nan], "many": [3, 12345]}, index=["first", "second"])
    html = page("A", "B", [Section("C", table=table)])
    assert '<td>first</td><td>a</td><td class="number">0.500</td><td class="number">3</td>' in html
    assert '<td class="number">–</td><td class="number">12345</td>' in html
    both = page("A", "B", [Section("C", table=pd.concat({"acc": table[["share"]]}, axis=1).reset_index(drop=True))])
    assert '<th scope="col" class="number">acc share</th>' in both


def test_verdicts_are_highlighted():
    html = page("A", "B", [Section("C", table=COST.assign(verdict=["Honest", "encodes the answer"]))])
    assert '<td><span class="verdict good">Honest</span></td><td>yes</td>' in html
    assert '<td><span class="verdict bad">encodes the answer</span></td><td>no</td>' in html
    assert '<span class="verdict unsure">too few rows</span>' in page(
        "A", "B", [Section("C", table=pd.DataFrame({"Verdict": ["too few rows"]}))]
    )


def test_page_serves_phones_paper_and_the_dark():
    html = page("A", "B", [])
    assert 'name="viewport"' in html
    assert "@media print" in html
    assert "@media screen and (prefers-color-scheme: dark)" in html
    assert "overflow-x: auto" in html


def test_figures_tell_their_title_to_those_who_cannot_see(make):
    html = page("A", "B", [Section("C", figures=[feature_rates(make())])])
    assert '<svg role="img" aria-label="How often each feature is kept, of 40 rows"' in html


def test_pages_made_side_by_side_are_like_those_made_alone(make):
    def work(row):
        return page("A", "B", [Section("C", figures=[row_bars(make(), row)])])

    alone = [work(row) for row in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == alone
