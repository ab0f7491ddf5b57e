from dataclasses import replace

import pytest
import torch

from lexplain.core.kinds import kinds
from lexplain.kinds.columns import COLUMNS
from lexplain.report import explanation_page, explanation_table, feature_rates, row_bars, selection_map
from lexplain.report.pictures import NAMED, PATCHES, Pictures, RowPictures, pictures_of, row_pictures_of


def test_a_kind_that_is_not_registered_is_drawn_by_its_names(make, make_padded, words):
    assert words.kind not in kinds()
    for explanation in (make(), make_padded(features=words)):
        assert pictures_of(explanation) is NAMED
        assert row_pictures_of(explanation) is NAMED.rows


def test_features_that_do_not_fit_the_scores_do_not_choose_the_picture(make, make_pictures):
    pictures = make_pictures()
    assert pictures_of(pictures) is PATCHES
    assert pictures_of(make(rows=6, features=pictures.features)) is NAMED


def test_rows_whose_pictures_need_data_are_bars_without_it(make_pictures):
    assert row_pictures_of(make_pictures()) is PATCHES.rows
    assert row_pictures_of(make_pictures(data=None)) is NAMED.rows
    assert row_pictures_of(make_pictures()[:0]) is NAMED.rows


@pytest.fixture
def draw_words(register, words):
    """Registers pictures for a kind that is otherwise like columns."""
    return lambda pictures: register(replace(COLUMNS, name=words.kind, suits=lambda X: False, pictures=lambda: pictures))


@pytest.fixture
def own(draw_words, make_padded, words):
    """An explanation of a kind that has pictures of its own."""
    rows = RowPictures(
        html=lambda explanation, rows, *, most: f"<p class='own'>{len(rows)} texts, {most} words</p>",
        table=lambda explanation, rows, *, summary, left_out: f"<p>{summary}</p><p class='own'>{left_out or 'all'}</p>",
        about=lambda explanation: "Kept words are underlined.",
        first=True,
    )
    draw_words(Pictures(noun="word", rows=rows))
    return make_padded(features=words)


def test_a_line_of_your_own_is_all_that_a_kind_needs(own, read):
    html = explanation_page(own)
    read(html)
    assert "<p class='own'>4 texts, 8 words</p>" in html
    assert "Kept words are underlined." in html
    assert "How often each word is kept" in html
    assert html.index("Row by row") < html.index("Which words are kept in each row")
    assert explanation_table(own).endswith("<p class='own'>all</p>")


def test_what_a_line_leaves_out_is_drawn_by_names(own, make_padded):
    assert len(row_bars(own, 0).patches) == 3
    assert len(feature_rates(own).patches) == 5
    assert len(selection_map(own, truth=own.mask).get_yticklabels()) == 4


def test_every_figure_of_a_kind_can_be_its_own(own, draw_words):
    called = []

    def draw(explanation, *rows, **options):
        called.append((*rows, *sorted(options)))

    draw_words(Pictures(row=draw, map=draw, rates=draw))
    row_bars(own, 2)
    selection_map(replace(own, mask=torch.zeros_like(own.mask)), rows=2)
    feature_rates(own, max_features=3)
    assert called == [(2, "ax", "most"), ([0, 3], "ax", "true"), ("ax", "most")]
