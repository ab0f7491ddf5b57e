import re
from types import SimpleNamespace

import pytest

from lexplain.report import fit_page


@pytest.fixture
def fitted(make_path):
    def made(path=None, findings=()):
        return SimpleNamespace(path_=path, findings_=list(findings), method_=SimpleNamespace(name="gains"))

    return made


@pytest.mark.parametrize("judged", [True, False])
def test_page_holds_the_figure_the_table_and_the_findings(fitted, make_path, read, judged):
    html = fit_page(fitted(make_path(judged)), version="1.2", date="today")
    outline = read(html)
    assert not re.search(r"https?:", re.sub(r'xmlns(:xlink)?="[^"]*"', "", html))
    assert outline.tags.count("svg") == outline.tags.count("table") == 1
    assert outline.tags.count("tr") == 1 + 4 + 1  # the head, every 8th of 25 prices, the chosen one
    assert html.count("<td>chosen</td>") == 1
    assert "Nothing to report." in html
    assert ("From all features it is 0.900" in html) == judged == ('<th scope="col" class="number">eACC</th>' in html)
    assert "Made with lexplain 1.2 on today." in html


def test_page_says_first_what_was_chosen(fitted, make_path):
    point = make_path().iloc[14]
    html = fit_page(fitted(make_path()))
    assert f"Keeps {point['kept']:.1f} features at {point['price']:.3f} nats each; predictions change by {point['cost']:.3f} nats [" in html


def test_a_chosen_row_that_is_shown_anyway_is_shown_once(fitted, make_path, read):
    html = fit_page(fitted(make_path().assign(chosen=[n == 8 for n in range(25)])))
    assert read(html).tags.count("tr") == 1 + 4


def test_a_cost_of_nothing_is_nothing(fitted, make_path):
    table = make_path()
    table.loc[0, ["cost", "cost_low", "cost_high"]] = -4.8e-9
    html = fit_page(fitted(table))
    assert "0.000 to 0.000" in html
    assert "e-09" not in html
    assert "-0.000" not in html


def test_findings_are_told_and_escaped(fitted, make_path):
    html = fit_page(fitted(make_path(), ["the <b>predictor</b> knows nothing", "every row keeps the same"]))
    assert "<p>The &lt;b&gt;predictor&lt;/b&gt; knows nothing.</p>" in html
    assert "<p>Every row keeps the same.</p>" in html
    assert "Nothing to report" not in html


def test_without_a_path_the_findings_remain(fitted, read):
    html = fit_page(fitted(findings=["most rows keep every feature"]))
    assert "svg" not in read(html).tags
    assert "no path of prices" in html.replace("&#39;", "'")
    assert "Most rows keep every feature." in html
