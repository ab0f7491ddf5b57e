import re

import pytest
import torch

from lexplain.report import explanation_page, explanation_table


def test_page_keeps_its_promises(explanation, read):
    html = explanation.to_html()
    outline = read(html)
    assert not re.search(r"https?:", re.sub(r'xmlns(:xlink)?="[^"]*"', "", html))
    assert outline.tags.count("svg") == 2
    assert outline.tags.count("h3") == min(20, len(explanation))


def test_the_same_explanation_gives_the_same_page(make):
    assert explanation_page(make()) == make().to_html()


def test_table_keeps_its_promises(explanation, read):
    html = explanation._repr_html_()
    outline = read(html)
    assert html == explanation_table(explanation)
    assert "html" not in outline.tags
    assert outline.tags.count("tr") == 1 + min(10, len(explanation))


def test_page_says_what_it_shows_and_what_not(make):
    html = explanation_page(make(rows=1234), version="1.2", date="today")
    kept = float(make(rows=1234).mask.float().sum(1).mean())
    assert f"1,234 rows, 4 features. realx keeps {kept:.1f} features per row on average ({kept / 4:.0%})." in html
    assert "Not shown: 1,214 more rows." in html
    assert "Made with lexplain 1.2 on today." in html
    assert "Not shown" not in explanation_page(make(rows=20))


def test_page_bounds_the_features_of_a_row(make):
    html = explanation_page(make(rows=2, names=tuple(f"g{j}" for j in range(200))))
    assert html.count('class="bar"') == 16
    assert re.search(r"192 more features, \d+ of them kept\.", html)


def test_rows_show_values_and_the_longest_bar_is_full(make):
    explanation = make(rows=1, scores=torch.tensor([[0.8, -0.4, 0.2, 0.0]]), mask=torch.tensor([[True, True, False, False]]))
    html = explanation_page(explanation)
    assert re.findall(r"width:([\d.]+)%", html) == ["100.0", "25.0", "0.0", "50.0"]
    assert f"age = {explanation.data.iloc[0, 0]:.3f}" in html
    assert re.findall(r'<li class="(.*?)"', html) == ["kept", "", "", "kept minus"]


def test_table_lists_kept_features_by_their_score(make):
    explanation = make(
        rows=12, scores=torch.tensor([[0.1, 0.9, 0.5, 0.7]]).repeat(12, 1), mask=torch.tensor([[True, True, False, True]]).repeat(12, 1)
    )
    html = explanation_table(explanation)
    assert re.findall(r"<b>(\w+)</b>", html)[:3] == ["income", "job", "age"]
    assert "city" not in html
    assert f"<b>income</b> = {explanation.data.iloc[0, 1]:.3f} (0.900)" in html
    assert "Not shown: 2 more rows" in html


def test_table_does_not_run_the_predictor(make):
    explanation = make()
    assert "outcome" not in explanation_table(explanation)
    assert "prediction" not in vars(explanation)
    assert explanation.prediction.shape == (40, 2)
    assert "predicted no" in explanation_table(explanation)


def test_empty_explanations_have_a_page_too(make, read):
    read(explanation_page(make()[:0]))
    assert "0 rows, 4 features." in explanation_table(make()[:0])


@pytest.mark.parametrize("write", [explanation_page, explanation_table])
def test_hard_names_are_escaped(write, make, hard_names, read):
    html = write(make(names=hard_names))
    outline = read(html)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script" not in html
    assert hard_names[1] in "".join(outline.text)
