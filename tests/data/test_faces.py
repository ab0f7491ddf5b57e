import numpy as np
import pytest
from made_images import as_jpeg, as_zip, put

from lexplain.data import DATASETS, load_data
from lexplain.data.faces import mouth_units

LEVEL = np.array([[[22.0, 40.0], [38.0, 40.0]]])  # 16 pixels long, its middle at (30, 40)


def turned(ends, degrees):
    """The same mouth turned about its middle."""
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = ends.mean(1, keepdims=True)
    return (ends - middle) @ turn.T + middle


def plain(ends, *, height, width, side, patch):
    """The same, one square at a time: turn it back about the mouth's middle, and look."""
    found = []
    for (x0, y0), (x1, y1) in ends:
        length, angle = np.hypot(x1 - x0, y1 - y0), np.arctan2(y1 - y0, x1 - x0)
        for row in range(side // patch):
            for column in range(side // patch):
                x = column * patch + (patch - 1) / 2 - (x0 + x1) / 2
                y = row * patch + (patch - 1) / 2 - (y0 + y1) / 2
                u, v = x * np.cos(-angle) - y * np.sin(-angle), x * np.sin(-angle) + y * np.cos(-angle)
                found.append(abs(u) <= width * length / 2 and abs(v) <= height * length / 2)
    return np.array(found).reshape(len(ends), -1)


def test_a_level_mouth_by_hand():
    box = mouth_units(LEVEL, height=2.0, width=1.0).reshape(16, 16)
    # middles lie at 1.5, 5.5, …; across 22 to 38 that is 25.5, 29.5, 33.5, 37.5; down 24 to 56 it is 25.5 to 53.5
    assert np.flatnonzero(box.any(0)).tolist() == [6, 7, 8, 9]
    assert np.flatnonzero(box.any(1)).tolist() == [6, 7, 8, 9, 10, 11, 12, 13]
    assert box.sum() == 32
    narrow = mouth_units(LEVEL, height=1.0, width=1.8).reshape(16, 16)  # what the authors' code draws: 28.8 x 16
    assert np.flatnonzero(narrow.any(1)).tolist() == [8, 9, 10, 11]
    assert np.flatnonzero(narrow.any(0)).tolist() == [4, 5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize("degrees", [0, 20, 45, 90, 135, 200])
@pytest.mark.parametrize(("height", "width"), [(2.0, 1.0), (1.0, 1.8)])
def test_the_box_turns_with_the_mouth(degrees, height, width):
    ends = turned(LEVEL + np.array([0.3, -8.2]), degrees)  # so that the box stays inside the image, its edges between pixels
    pixels = mouth_units(ends, height=height, width=width, patch=1)
    assert pixels.sum() == pytest.approx(height * width * 16**2, rel=0.05)
    assert np.array_equal(pixels, plain(ends, height=height, width=width, side=64, patch=1))
    assert np.array_equal(mouth_units(ends, height=height, width=width), plain(ends, height=height, width=width, side=64, patch=4))
    assert np.array_equal(pixels, mouth_units(ends[:, ::-1], height=height, width=width, patch=1))  # left and right may be swapped


def test_mouths_of_several_faces_do_not_mix():
    ends = np.concatenate([LEVEL, turned(LEVEL, 30), LEVEL / 2])
    assert np.array_equal(mouth_units(ends, height=2.0, width=1.0), plain(ends, height=2.0, width=1.0, side=64, patch=4))


def test_a_box_ends_with_the_image():
    box = mouth_units(np.array([[[0.0, 0.0], [0.0, 20.0]]]), height=2.0, width=1.0).reshape(16, 16)
    assert np.argwhere(box).max(0).tolist() == [4, 4]  # 20 pixels along and 20 to its right; the rest would be outside
    assert box.sum() == 25


def test_the_factors_reach_the_truth(made_images):
    paper, code = DATASETS["faces"](), DATASETS["faces"](box_height=1.0, box_width=1.8)
    assert np.array_equal(paper.train.x, code.train.x)
    assert np.array_equal(load_data("faces", box_height=1.0, box_width=1.8).train.truth, code.train.truth)
    assert paper.train.truth.sum(1).max() == 32  # 16 x 32 pixels
    assert code.train.truth.sum(1).max() == 28  # 28.8 x 16 pixels
    assert np.array_equal(paper.train.truth, load_data("faces").train.truth)
    number = np.rint(paper.test.x.mean((1, 2, 3)) * 255).astype(int) - 40
    rows = paper.test.truth.reshape(-1, 16, 16).any(2)
    middle = (rows * np.arange(16)).sum(1) / rows.sum(1) * 4 + 1.5
    inside = number % 30 + 20.3 < 48  # the others' boxes end with the image
    assert middle[inside] == pytest.approx((number % 30 + 20.3)[inside], abs=2)


@pytest.mark.parametrize(
    ("options", "told"), [({"box_height": 0}, "box_height must be .*0"), ({"box_width": -1.0}, "box_width must be .*-1.0")]
)
def test_refusals(options, told, made_images):
    with pytest.raises(ValueError, match=told):
        DATASETS["faces"](**options)


@pytest.mark.parametrize("cell", ["", "left", "nan"])
def test_corners_that_are_no_numbers_are_refused(cell, tmp_path, monkeypatch):
    corners = {"x_lmouth": 1, "y_lmouth": 1, "x_rmouth": 9, "y_rmouth": cell}
    row = {"file": "0.jpg", "split": "train", "smile": "1", **corners}
    put({"mtfl_faces/mtfl_faces_64.zip": as_zip({"0.jpg": as_jpeg(np.zeros((64, 64, 3), np.uint8))}, [row])}, tmp_path, monkeypatch)
    with pytest.raises(ValueError, match=r"labels.csv has cells in x_lmouth, y_lmouth, x_rmouth, y_rmouth that are not numbers"):
        load_data("faces")


def test_published_faces(loaded):
    data = loaded("faces", rows=300)
    assert np.bincount(data.train.y).tolist() == pytest.approx([300 * 0.4384, 300 * 0.5616], abs=2)
    assert [len(part) for part in (data.train, data.validation, data.test)] == [300, 75, 300]
    truth = data.train.truth.reshape(-1, 16, 16)
    assert truth.any((1, 2)).all()
    down = (truth.sum(2) * np.arange(16)).sum(1) / truth.sum((1, 2))
    assert (down > 6).mean() > 0.95  # mouths lie below the middle
