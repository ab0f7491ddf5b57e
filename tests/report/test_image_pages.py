import base64
import html as escaping
import io
import re

import numpy as np
import pytest
import torch
from matplotlib.image import imread

from lexplain.auditing import Card
from lexplain.features import Patches
from lexplain.report import card_page, explanation_page, explanation_table
from lexplain.report.images.picture import scale_of

IMAGE = re.compile(r'<img src="data:image/png;base64,([^"]+)" alt="([^"]*)"')


def pictures(html):
    """The pictures (rows, columns, 3) in [0, 1] of some HTML, with their alternative texts."""
    return [(imread(io.BytesIO(base64.b64decode(code)))[..., :3], escaping.unescape(said)) for code, said in IMAGE.findall(html)]


def links(html):
    own = re.sub(r'xmlns(:xlink)?="[^"]*"|data:image/png;base64,[A-Za-z0-9+/=\s]+', "", html)
    return re.findall(r"https?:|//[a-z]|@import|<link|<iframe|<script|src=[^\"]", own)


def test_page_has_a_strip_of_pictures_a_row_and_says_how_many_rows_there_are(make_pictures, read):
    explanation = make_pictures(50)
    html = explanation_page(explanation)
    outline = read(html)
    assert html.count('<div class="panels">') == 20
    assert outline.tags.count("img") == 1 + 4 * 20  # a colour bar, and four views of each image
    assert "Not shown: 30 more rows." in html
    assert not links(html)
    assert 'class="bar"' not in html
    assert html == explanation_page(make_pictures(50))
    named = re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL)
    assert 20 <= len(re.findall(r"\br\d+\Wc\d+\b", re.sub(r'alt="[^"]*"', "", named))) <= 60  # three patches a row, not 48
    assert "score, above ½ is kept: 0.000" in html


def test_pictures_of_a_page_are_those_of_the_images(make_pictures):
    explanation = make_pictures(3, channels=3, layout="NHWC", dtype="uint8")
    _, *drawn = pictures(explanation_page(explanation))
    times = scale_of(6, 8)
    image, said = drawn[4]
    assert np.rint(image[::times, ::times] * 255) == pytest.approx(explanation.data[1])
    alone = drawn[6][0][::times, ::times]
    kept = explanation.mask[1].reshape(6, 8).numpy()
    assert np.rint(alone[kept] * 255) == pytest.approx(explanation.data[1][kept])
    assert (np.ptp(alone[~kept], axis=-1) > 0.1).all()
    assert said.startswith("Row 1: predicted ")
    assert f", the image: {int(kept.sum())} of 48 patches kept; highest scores: " in said
    assert all(text for _, text in drawn)


def test_values_that_were_rescaled_are_said_to_be(make_pictures):
    usual = make_pictures(2)
    wide = make_pictures(2, data=usual.data / usual.data.max() * 16)
    assert "to 16 are shown as black to white." in explanation_page(wide)
    assert "to 16 are shown as black to white." in explanation_table(wide)
    assert "shown as black to white" not in explanation_page(usual)


def test_large_images_are_made_small_and_the_page_says_so(make_pictures):
    large = np.random.default_rng(0).uniform(size=(2, 700, 40)).astype("float32")
    features = Patches(20).fit(large)
    scores = torch.linspace(0, 1, 2 * features.count).reshape(2, -1)
    html = explanation_page(make_pictures(2, data=large, features=features, names=features.names, scores=scores, mask=scores > 0.5))
    _, *drawn = pictures(html)
    assert max(max(image.shape) for image, _ in drawn) <= 336
    assert "every 3rd pixel is shown" in html
    assert drawn[0][0][..., 0] == pytest.approx(large[0, ::3, ::3], abs=0.003)


def test_table_shows_pictures_and_does_not_run_the_predictor(make_pictures, read):
    explanation = make_pictures(12)
    html = explanation_table(explanation)
    outline = read(html)
    assert "prediction" not in vars(explanation)
    assert "outcome" not in html
    assert outline.tags.count("img") == 40
    assert outline.tags.count("tr") == 11
    assert "Not shown: 2 more rows" in html
    assert explanation.prediction.shape == (12, 3)
    assert "predicted " in explanation_table(explanation)
    assert not links(html)


def test_card_shows_some_images(make_pictures, read):
    explanation = make_pictures(40)
    html = card_page(Card("honest", False, "of no reason", (), method="realx", rows=40, explanation=explanation))
    outline = read(html)
    assert html.count('<div class="panels">') == 6
    assert outline.tags.count("svg") == 2  # masks and rates
    assert "6 rows of 40, from the lowest prediction to the highest." in html
    assert not links(html)


def test_patches_without_their_images_have_bars(make_pictures):
    html = explanation_page(make_pictures(data=None))
    assert 'class="bar"' in html
    assert not pictures(html)


def test_what_is_enlarged_is_not_enlarged_again():
    assert all(scale_of(side * scale_of(side, 1), 1) == 1 for side in range(1, 400))
