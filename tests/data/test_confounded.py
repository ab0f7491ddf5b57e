"""Confounded data sets: the confound tells the class in training and nothing in the test."""

import io
import tarfile

import numpy as np
import pytest

from lexplain.core import DataSplit
from lexplain.data import load_data
from lexplain.data.colours import BOTTOM_LEFT, CORNERS, PALETTE, TOP, TOP_RIGHT, draw, rule_mask
from lexplain.data.confounded import confound, decoyed
from lexplain.data.newsgroups import posts


def test_class_0_obeys_both_rules_of_the_colours_and_class_1_neither():
    pixels, y = draw(3000, np.random.default_rng(0))
    corners = np.stack([pixels[:, i, j] for i, j in CORNERS], 1)
    one = (corners == corners[:, :1]).all(1)
    top = pixels[:, 0, 1:4]
    differ = np.array([len(set(row)) == 3 for row in top.tolist()])
    assert np.array_equal(one, y == 0)
    assert np.array_equal(differ, y == 0)
    assert abs(y.mean() - 0.5) < 0.05
    assert np.bincount(pixels[:, 2, 2], minlength=4).min() > 650  # elsewhere all colours alike
    broken = pixels[y == 1]
    crossed = (broken[:, TOP_RIGHT[0], TOP_RIGHT[1]] != broken[:, BOTTOM_LEFT[0], BOTTOM_LEFT[1]]).mean()
    assert crossed == pytest.approx(0.5 + 0.5 * 0.75, abs=0.03)  # made to differ in one half, by chance in the other


def test_colours_as_a_data_set():
    data = load_data("colours", rows=50, seed=1)
    assert data.train.x.shape == (50, 75)
    assert data.test.x.shape == (50, 75)
    assert {tuple(pixel) for pixel in data.train.x.reshape(-1, 3).tolist()} == {tuple(colour) for colour in PALETTE.tolist()}
    assert rule_mask(CORNERS).sum() == 12
    assert rule_mask(TOP).reshape(5, 5, 3)[0, 1:4].all()
    assert np.array_equal(data.train.truth[0], rule_mask(CORNERS) | rule_mask(TOP))
    assert np.array_equal(load_data("colours", rows=50, seed=1).train.x, data.train.x)


def test_a_swatch_has_the_published_shade_and_lies_in_a_corner():
    x, shades = np.zeros((400, 28, 28), dtype=np.float32), np.arange(400) % 10
    shown, may = decoyed(x, shades, np.random.default_rng(0), size=4)
    assert (~may).reshape(400, -1).sum(1).tolist() == [16] * 400
    values = np.where(may, -1, shown).reshape(400, -1).max(1)
    assert np.allclose(values * 255, 255 - 25 * shades)
    corners = {(int(np.argwhere(~m)[0][0]), int(np.argwhere(~m)[0][1])) for m in may}
    assert corners == {(0, 0), (0, 24), (24, 0), (24, 24)}
    assert (shown[may] == 0).all()


def test_the_decoy_tells_the_class_in_training_and_nothing_in_the_test():
    data = load_data("decoy_digits", seed=0)
    told = {}
    for name in ("train", "validation", "test"):
        part = getattr(data, name)
        shade = np.where(confound(part), part.x, 0).max(1)
        told[name] = np.corrcoef(shade, part.y)[0, 1]
    assert told["train"] < -0.99
    assert told["validation"] < -0.99
    assert abs(told["test"]) < 0.15
    assert confound(data.train).sum(1).tolist() == [4] * len(data.train)


def test_irises_are_gone_from_the_test_rows():
    data = load_data("iris_cancer", seed=0)
    assert len(data.train) == 57
    assert len(data.test) == 33
    assert not data.test.x[:, :4].any()
    assert data.validation.x[:, :4].all()
    assert data.names[:5] == ("sepal length", "sepal width", "petal length", "petal width", "mean radius")
    assert data.names[-1] == "worst fractal dimension"
    assert np.array_equal(confound(data.train)[0], np.arange(34) < 4)


def test_nobody_knows_what_decides():
    with pytest.raises(ValueError, match="irrelevant_mask"):
        confound(DataSplit(np.zeros((2, 2)), np.zeros(2)))


def archive(members):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as made:
        for name, text in members:
            info = tarfile.TarInfo(name)
            if text is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            info.size = len(text or "")
            made.addfile(info, io.BytesIO((text or "").encode()))
    return content.getvalue()


def test_posts_of_an_archive():
    good = [("20news-bydate-train/alt.atheism/1", "no"), ("20news-bydate-test/soc.religion.christian/2", "yes")]
    assert posts(archive(good)) == {"train": [("no", 0)], "test": [("yes", 1)]}


@pytest.mark.parametrize(
    "odd", [("../../evil", "x"), ("20news-bydate-train/alt.atheism/3", None), ("20news-bydate-train/sci.space/1", "x")]
)
def test_odd_members_are_refused(odd):
    with pytest.raises(ValueError, match="not a post"):
        posts(archive([odd]))
