"""Rows of different length: padding is no feature, whoever draws the rows."""

import re

import pytest
import torch
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgba

from lexplain.auditing import Card
from lexplain.report import card_page, explanation_page, explanation_table, feature_rates, row_bars, selection_map
from lexplain.report.explanation_page import summary
from lexplain.report.figures.named import PADDING
from lexplain.report.rows import has_features, kept_rates, read_row


@pytest.fixture(params=["no features", "features of an unknown kind"])
def padded(request, make_padded, words):
    """Texts of 3, 1, 5 and 2 words; padding has the score 99."""
    texts = ["a good film", "bad", "not a good film <b>at-all</b>", "good good"]
    return make_padded() if request.param == "no features" else make_padded(features=words, data=texts)


def test_a_row_has_its_own_names_and_no_padding(padded):
    row = read_row(padded, 0, most=99)
    assert [(item.name, item.kept) for item in row.items] == [("a", True), ("good", True), ("film", False)]
    assert (row.left_out, row.left_out_kept) == (0, 0)
    assert [item.name for item in read_row(padded, 1, most=99).items] == ["bad"]
    assert [item.name for item in read_row(padded, -1, most=99).items] == ["good", "good"]
    few = read_row(padded, 2, most=1)
    assert ([item.name for item in few.items], few.left_out, few.left_out_kept) == (["not"], 4, 1)


def test_values_are_the_cells_of_the_row(make_padded, words):
    explanation = make_padded(features=words, data=["a good film", "bad", "not a good film <b>at-all</b>", "good good"])
    assert [item.label for item in read_row(explanation, 0, most=99).items] == ["a = 1", "good = 4", "film = 4"]
    assert [item.label for item in read_row(make_padded(), 0, most=99).items] == ["a", "good", "film"]


def test_no_page_shows_padding(padded, read):
    for html in (explanation_page(padded), explanation_table(padded), card_page(Card("honest", False, "so", (), explanation=padded))):
        read(html)
        assert "99.0" not in html
    assert "&lt;b&gt;at-all&lt;/b&gt;" in explanation_page(padded)
    assert explanation_page(padded).count('class="bar"') == 3 + 1 + 5 + 2
    assert re.findall(r"<b>(\w+)</b>", explanation_table(padded)) == ["a", "good", "bad", "not", "good", "good", "good"]


def test_the_summary_counts_what_is_there(padded, make_padded):
    assert summary(padded) == "4 rows, up to 5 features. realx keeps 1.8 of 2.8 features per row on average (64%)."  # 7 of 11
    nothing = make_padded(texts=("", ""))
    assert summary(nothing) == "2 rows, up to 0 features."
    assert summary(padded[:0]) == "0 rows, up to 5 features."


def test_rates_are_of_the_rows_that_have_a_feature(padded, make_padded):
    assert kept_rates(padded).tolist() == pytest.approx([1, 2 / 3, 1 / 2, 0, 0])
    ax = feature_rates(padded)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([1, 2 / 3, 1 / 2, 0, 0])
    assert "of those that have it" in ax.get_xlabel()
    assert ax.get_ylabel() == "position in the row"
    places = ["1", "2", "3", "4", "5"] if padded.features is None else list(padded.features.names)
    assert [label.get_text() for label in ax.get_yticklabels()] == places
    assert len(feature_rates(make_padded(texts=("one two", "three"))).patches) == 2  # no bar for what no row has
    assert "1 feature kept less often" in feature_rates(make_padded(texts=("one two", "three")), max_features=1).get_xlabel()


def test_the_map_tells_padding_from_what_is_hidden(padded, make_padded):
    ax = selection_map(padded, truth=torch.ones(4, 5, dtype=torch.bool))
    kept, true, padding = (found for found in ax.collections if isinstance(found, PatchCollection))
    assert [len(found.get_paths()) for found in (kept, true, padding)] == [7, 11, 20 - 11]
    assert tuple(padding.get_facecolor()[0]) == to_rgba(PADDING)
    assert "padding: the row is shorter" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert ax.get_xlabel() == "position in the row"
    rows = [int(label.get_text()) for label in ax.get_yticklabels()]
    cells = {(rows[round(p.vertices[:4, 1].mean())], round(p.vertices[:4, 0].mean())) for p in padding.get_paths()}
    assert cells == {(i, j) for i, j in (~padded.valid).nonzero().tolist()}
    short = selection_map(make_padded(texts=("one two", "", "three")))
    assert [label.get_text() for label in short.get_xticklabels()] == ["1", "2"]
    assert {label.get_text() for label in short.get_yticklabels()} == {"0", "2"}  # a row of nothing has no line
    assert short.get_title(loc="left") == "Features kept in 2 of 3 rows"


def test_bars_have_the_names_of_the_row(padded):
    ax = row_bars(padded, 0)
    assert [label.get_text().split(" = ")[0] for label in ax.get_yticklabels()] == ["a", "good", "film"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.9, 0.8, 0.7])


def test_rows_of_nothing_but_padding_are_no_picture(make_padded, read):
    nothing = make_padded(texts=("", ""))
    assert not has_features(nothing)
    assert "svg" not in read(explanation_page(nothing)).tags
    read(explanation_table(nothing))
    assert "svg" not in read(card_page(Card("cannot tell", None, "so", (), explanation=nothing))).tags
    for draw in (feature_rates, selection_map):
        with pytest.raises(ValueError, match="least one row"):
            draw(nothing)


def test_padding_may_come_with_one_name_a_feature(make_padded):
    explanation = make_padded(names=tuple("abcde"))
    assert [item.name for item in read_row(explanation, 0, most=99).items] == ["a", "b", "c"]
    assert feature_rates(explanation).get_ylabel() == ""
