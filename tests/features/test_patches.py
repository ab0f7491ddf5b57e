import json

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings, strategies as st

from lexplain.features import Patches


def images(n, c, h, w, layout, dtype=np.float32):
    values = np.random.default_rng(0).integers(0, 200, (n, c, h, w)).astype(dtype)
    return {"NCHW": values, "NHWC": np.moveaxis(values, 1, -1), "NHW": values[:, 0]}[layout]


@given(
    st.integers(1, 3), st.integers(5, 9), st.integers(5, 9), st.integers(1, 5), st.integers(1, 5), st.booleans(),
    st.sampled_from(["NCHW", "NHWC", "NHW"]), st.sampled_from([np.uint8, np.float32, np.float64, np.uint16, np.int32, np.bool_]),
)  # fmt: skip
@settings(deadline=None)
def test_patches_keep_the_promises_of_features(c, h, w, high, wide, each, layout, dtype):
    c = 1 if layout == "NHW" else c
    rows = images(4, c, h, w, layout, dtype)
    features = Patches((high, wide), layout=layout, each_channel=each).fit(rows)
    encoded = features.encode(rows).x
    assert encoded.shape == (4, *features.shape) == (4, c, h, w)
    assert encoded.dtype == torch.float32
    assert features.count == len(features.names) == len(set(features.names))
    assert len(features.input_names) == len(set(features.input_names)) == c * h * w
    back = features.decode(encoded)
    assert back.dtype == rows.dtype
    assert np.array_equal(back, rows)
    assert features.as_network_input(encoded).shape == rows.shape
    assert torch.allclose(features.gather(encoded).sum(1), encoded.sum((1, 2, 3)), rtol=1e-4)
    for lead in ((), (5,), (2, 4)):
        assert features.expand(torch.ones(*lead, features.count).bool()).shape == (*lead, c, h, w)
    restored = Patches.restore(json.loads(json.dumps(features.state())))
    assert restored == features


@given(st.integers(1, 3), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.booleans())
@settings(deadline=None)
def test_each_pixel_belongs_to_the_patch_it_lies_in(c, h, w, size, each):
    size = min(size, h, w)
    features = Patches(size, layout="NCHW", each_channel=each).fit(np.zeros((1, c, h, w)))
    owner = features.expand_scores(torch.arange(float(features.count))[None]).int().numpy()[0]  # (c, h, w) the feature of each number
    across = -(-w // size)
    for k in range(c):
        for y in range(h):
            for x in range(w):
                layer = k * features.grid[0] * features.grid[1] if each else 0
                assert owner[k, y, x] == layer + (y // size) * across + x // size
    mask = torch.rand(3, features.count) > 0.5
    assert torch.equal(features.expand(mask).flatten(1), mask[:, owner.ravel().tolist()])
    ones = features.gather(torch.ones(1, c, h, w))[0]
    assert ones.tolist() == np.bincount(owner.ravel(), minlength=features.count).tolist()


def test_bytes_are_shares_and_other_numbers_stay():
    whole = np.full((1, 2, 2), 51, dtype=np.uint8)
    assert Patches().fit(whole).encode(whole).x[0, 0, 0, 0].item() == pytest.approx(0.2)
    assert Patches().fit(whole * 1.0).encode(whole * 1.0).x[0, 0, 0, 0].item() == 51


@pytest.mark.parametrize(
    ("shape", "layout"),
    [((2, 3, 8, 9), "NCHW"), ((2, 8, 9, 3), "NHWC"), ((2, 8, 9), "NHW"), ((2, 1, 8, 9), "NCHW"), ((2, 8, 9, 4), "NHWC")],
)
def test_the_layout_is_read_off_the_shape(shape, layout):
    fitted = Patches(2).fit(np.zeros(shape))
    assert fitted.layout == layout
    assert fitted.shape[1:] == (8, 9)


def test_tensors_are_images_too():
    assert Patches(2).fit(torch.zeros(2, 3, 8, 9)).grid == (4, 5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Patches().fit(np.zeros((2, 3, 9, 3))), "channel axis of X with shape (2, 3, 9, 3)"),
        (lambda: Patches().fit(np.zeros((2, 8, 9, 7))), "channel axis of X with shape (2, 8, 9, 7)"),
        (lambda: Patches(layout="NHW").fit(np.zeros((2, 3, 8, 9))), "has 3 axes"),
        (lambda: Patches(layout="WHC").fit(np.zeros((2, 3, 8, 9))), "NCHW, NHW, NHWC"),
        (lambda: Patches(9).fit(np.zeros((2, 8, 9))), "larger than the images of 8 x 9"),
        (lambda: Patches(0).fit(np.zeros((2, 8, 9))), "size must be"),
        (lambda: Patches((2, 2, 2)).fit(np.zeros((2, 8, 9))), "size must be"),
        (lambda: Patches().fit(np.zeros((8, 9))), "X[None]"),
        (lambda: Patches().fit(np.zeros((0, 8, 9))), "shape (0, 8, 9)"),
        (lambda: Patches().fit(np.full((2, 8, 9), np.nan)), "contains NaN"),
        (lambda: Patches().fit(np.stack([np.full((8, 9), np.inf), np.full((8, 9), -np.inf)])), "contains infinity"),
        (lambda: Patches().fit(np.full((2, 8, 9), "a")), "must be numbers"),
        (lambda: Patches().fit(np.zeros((2, 8, 9))).encode(np.zeros((2, 9, 8))).x, "(n, 8, 9), NHW"),
    ],
)
def test_what_cannot_be_cut_is_refused(make, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")):
        make()


def test_large_numbers_are_no_infinity():
    assert Patches().fit(np.full((2, 8, 9), 3e38, dtype=np.float32)).count == 72  # their sum is beyond float32


def test_a_frame_is_no_image():
    with pytest.raises(TypeError, match="is a DataFrame"):
        Patches().fit(pd.DataFrame({"a": [1.0]}))


# ---- the truth of pixels ----


def test_the_truth_of_pixels_is_carried_to_patches_of_which_half_is_true():
    features = Patches(2).fit(np.zeros((1, 4, 4)))
    pixels = torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]).bool().reshape(1, 16)
    assert features.feature_truth(pixels, len(pixels)).tolist() == [[True, False, False, True]]  # 2, 1, 0 and 4 of 4 pixels


def test_the_truth_of_other_patches_is_carried_too_and_edges_count_the_pixels_they_have():
    images = np.zeros((1, 7, 7))
    corner = torch.zeros(1, 9).bool()
    corner[0, 8] = True  # of patches of 3 x 3 pixels: the one pixel in the corner
    assert Patches(2).fit(images).feature_truth(corner, 1).reshape(4, 4).nonzero().tolist() == [[3, 3]]  # a patch of one pixel, too
    assert Patches(1).fit(images).feature_truth(corner, 1).reshape(7, 7).nonzero().tolist() == [[6, 6]]
    assert Patches(7).fit(images).feature_truth(corner, 1).tolist() == [[True]]  # 1 of 49 pixels, but no patch has more


def test_what_is_small_is_not_lost():
    features = Patches(4).fit(np.zeros((1, 8, 8)))
    pixels = torch.zeros(3, 8, 8).bool()
    pixels[0, 3, 3] = True
    pixels[1, 0, 3:6] = True  # one pixel in the first patch, two in the second
    assert features.feature_truth(pixels, len(pixels)).tolist() == [[True, False, False, False], [False, True, False, False], [False] * 4]


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_truth_of_the_images_own_shape_is_taken_by_channels_or_together(layout):
    truth = torch.zeros(1, 3, 4, 4).bool()
    truth[0, 1, :2, :2] = True
    given = truth if layout == "NCHW" else truth.movedim(1, -1)
    together, each = (Patches(2, layout=layout, each_channel=each).fit(np.zeros(given.shape)) for each in (False, True))
    assert together.feature_truth(given, 1).tolist() == [[True, False, False, False]]
    assert each.feature_truth(given, 1).nonzero().tolist() == [[0, 4]]  # the first patch of the second channel


def test_every_channel_has_the_truth_of_its_pixels():
    features = Patches(2, layout="NCHW", each_channel=True).fit(np.zeros((1, 3, 4, 4)))
    pixels = torch.tensor([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]).bool().reshape(1, 16)
    assert features.feature_truth(pixels, len(pixels)).tolist() == [[True, False, False, False] * 3]


def test_what_is_no_truth_of_squares_is_refused():
    features = Patches(2).fit(np.zeros((1, 4, 4)))
    with pytest.raises(ValueError, match=r"truth has shape \(2, 7\), but 2 rows of 4 features"):
        features.feature_truth(torch.ones(2, 7).bool(), 2)
    twice = Patches(2).fit(np.zeros((1, 5, 5)))
    with pytest.raises(ValueError, match=r"truth has shape \(2, 4\), but 2 rows of 9 features"):
        twice.feature_truth(torch.ones(2, 4).bool(), 2)  # of squares of 3 x 3 pixels, or of 4 x 4
    with pytest.raises(ValueError, match=r"but 3 rows of 4 features"):
        features.feature_truth(torch.ones(2, 16).bool(), 3)


# ---- devices and files ----

TYPES = ["bool", "uint8", "uint16", "int16", "int64", "float16", "float32", "float64", ">f4"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NHW"])
@pytest.mark.parametrize("dtype", TYPES)
def test_images_are_encoded_on_a_device_as_elsewhere(dtype, layout):
    shape = {"NCHW": (6, 3, 4, 5), "NHWC": (6, 4, 5, 3), "NHW": (6, 4, 5)}[layout]
    X = (np.random.default_rng(0).random(shape) * (1 if "f" in dtype else 100)).astype(dtype)
    features = Patches(2, layout=layout).fit(X)
    found = features.encode(X, "cuda").x
    assert found.is_cuda
    assert found.is_contiguous()
    torch.testing.assert_close(found.cpu(), features.encode(X).x)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("wrong", "kind"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity"), (1e300, "a value too large")])
def test_what_is_no_number_is_refused_where_images_are_encoded(wrong, kind, dtype, device):
    if wrong == 1e300 and dtype is np.float32:
        pytest.skip("float32 has no such number")
    features = Patches().fit(np.zeros((3, 4, 4), dtype=dtype))
    X = np.zeros((3, 4, 4), dtype=dtype)
    X[1, 2, 3] = X[2, 0, 0] = wrong
    words = f"contains {kind}.* \\(in 2 of 3 images, first in image 1\\)"
    with pytest.raises(ValueError, match=words):
        features.encode(X, device)
    (x, valid, _), look = features.encode_unchecked(X, device)
    assert valid is None
    assert x.shape == (3, 1, 4, 4)
    with pytest.raises(ValueError, match=words):
        look()
    with pytest.raises(ValueError, match=words):
        Patches().fit(X)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NHW"])
@pytest.mark.parametrize("channels", [1, 3])
def test_images_on_a_device_are_laid_out_as_elsewhere(channels, layout, dtype):
    X = np.ones({"NCHW": (2, channels, 4, 5), "NHWC": (2, 4, 5, channels), "NHW": (2, 4, 5)}[layout], dtype=dtype)
    features = Patches(layout=layout).fit(X)
    here, there = features.encode(X).x, features.encode_unchecked(X, "meta")[0].x  # a device without numbers, which every machine has
    assert there.device.type == "meta"
    assert (there.shape, there.stride(), there.dtype) == (here.shape, here.stride(), here.dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NHW"])
def test_what_is_encoded_is_nobody_elses(layout, dtype):
    X = np.ones({"NCHW": (2, 1, 4, 4), "NHWC": (2, 4, 4, 1), "NHW": (2, 4, 4)}[layout], dtype=dtype)
    x = Patches(layout=layout).fit(X).encode(X).x
    before = x.clone()
    X[:] = 0
    assert torch.equal(x, before)


@pytest.mark.parametrize(
    ("fitted", "given", "way"),
    [
        ((2, 8, 9), (8, 9), r"X\[None\]"),
        ((2, 8, 9, 3), (8, 9, 3), r"X\[None\]"),
        ((2, 1, 8, 9), (2, 8, 9), r"X\[:, None\]"),
    ],
)
def test_the_way_to_the_shape_of_the_fit_is_told(fitted, given, way):
    with pytest.raises(ValueError, match=way):
        Patches().fit(np.zeros(fitted)).encode(np.zeros(given))


@pytest.mark.parametrize("dtype", TYPES)
def test_images_that_may_not_be_written_to_are_encoded(dtype, tmp_path):
    np.save(tmp_path / "images.npy", np.eye(4).astype(dtype).reshape(1, 4, 4))
    X = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert (Patches().fit(X).encode(X).x[0, 0] > 0).equal(torch.eye(4).bool())


@pytest.mark.parametrize("view", [np.s_[::-1], np.s_[:, ::-1], np.s_[:, :, ::2]])
def test_views_are_encoded(view):
    X = np.random.default_rng(0).random((3, 4, 6))
    assert torch.equal(Patches().fit(X[view]).encode(X[view]).x[:, 0], torch.as_tensor(X[view].copy()).float())


# ---- units ----

BYTES = np.random.default_rng(0).integers(0, 256, (6, 4, 4)).astype(np.uint8)
UNIT, WIDE = BYTES.astype(np.float32) / 255, BYTES.astype(np.float32)


@pytest.mark.parametrize(("fitted", "given"), [(BYTES, UNIT), (UNIT, BYTES), (BYTES, BYTES), (UNIT, UNIT.astype(np.float64)), (WIDE, WIDE)])
def test_the_same_images_are_encoded_alike_in_units_that_can_be_told(fitted, given):
    features = Patches().fit(fitted)
    assert torch.allclose(features.encode(given).x, features.encode(fitted).x, atol=1e-6)


@pytest.mark.parametrize(
    ("fitted", "given", "words"),
    [
        (BYTES, WIDE, r"float32 from 0 to 255, but .* uint8. .*\[0, 1\]"),
        (BYTES, BYTES.astype(np.uint16), "uint16 from 0 to 255, but .* uint8"),
        (BYTES, BYTES.astype(int), "int64 from 0 to 255"),
        (UNIT, WIDE, r"float32 from 0 to 255, but .* float32 from 0 to 1. .*\[0, 1\]: divide bytes by 255"),
        (WIDE, BYTES, "uint8 from 0 to 255, but .* float32 from 0 to 255"),
        (WIDE, UNIT, "float32 from 0 to 1, but .* float32 from 0 to 255"),
        (UNIT * 4 - 2, BYTES, "uint8 from 0 to 255, but .* float32 from -2 to 2"),
        (UNIT * 4 - 2, WIDE, "float32 from 0 to 255, but .* float32 from -2 to 2"),
    ],
)
def test_images_in_other_units_are_refused(fitted, given, words):
    features = Patches().fit(fitted)
    with pytest.raises(ValueError, match=words):
        Patches.restore(json.loads(json.dumps(features.state()))).encode(given)


def test_units_that_nobody_knows_are_not_compared():
    state = {**Patches().fit(WIDE).state(), "span": None}
    assert Patches.restore(state).encode(UNIT).x.max() <= 1
