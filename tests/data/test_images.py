import hashlib
import io

import numpy as np
import pytest
from made_images import SEEN, TESTED, as_idx, label_of, put
from sklearn.datasets import load_digits

from lexplain.data import DATASETS, Faces, Images, describe, load_data
from lexplain.data.cache import File
from lexplain.data.facts import facts, part_as_bytes
from lexplain.data.files import find_rows
from lexplain.data.images import FASHION_FILES, MNIST_FILES, idx, interleaved
from lexplain.features import Patches

NAMES = [name for name, source in DATASETS.items() if isinstance(source, (Images, Faces))]
OFFLINE = ["digits", "sp_digits"]
SHAPES = {
    "mnist": (1, 28, 28),
    "fashion": (1, 28, 28),
    "mnist38": (1, 28, 28),
    "digits": (1, 8, 8),
    "sp_mnist": (1, 28, 56),
    "sp_fashion": (1, 28, 56),
    "sp_digits": (1, 8, 16),
    "chest_xray": (1, 128, 128),
    "cats_dogs": (3, 96, 96),
    "faces": (3, 64, 64),
}
GRIDS = {"mnist38": (7, 7), "chest_xray": (16, 16), "cats_dogs": (12, 12), "faces": (16, 16)}  # of the others: one feature a pixel
TRUE = {"sp_mnist": 784, "sp_fashion": 784, "sp_digits": 64}


def parts_of(data):
    return data.train, data.validation, data.test


# ---- what every set of images promises ----


@pytest.mark.parametrize("name", NAMES)
def test_images_keep_their_promises(name, made_images):
    data, shape = load_data(name, seed=3), SHAPES[name]
    assert data.name == name
    assert data.features.layout == "NCHW"
    assert data.features.shape == ()  # not fitted: that is the explainer's
    fitted = data.features.fit(data.train.x)
    assert isinstance(fitted, Patches)
    assert fitted.grid == GRIDS.get(name, shape[1:])
    assert data.names == fitted.input_names
    for part in parts_of(data):
        assert part.x.shape == (len(part), *shape)
        assert part.x.dtype == np.float32
        assert part.x.flags.c_contiguous
        assert 0 <= part.x.min() < part.x.max() <= 1
        assert part.y.dtype == np.int64
        assert set(part.y.tolist()) == set(range(2 if name in ("mnist38", "chest_xray", "cats_dogs", "faces") else 10))
        assert (part.truth is None) == (name not in TRUE and name != "faces")
        if part.truth is not None:
            assert part.truth.dtype == bool
            assert part.truth.shape == (len(part), fitted.count)
    many = [len(part) for part in parts_of(data)]
    assert abs(many[0] - 4 * many[1]) <= 4
    if name not in (*OFFLINE, "mnist38"):
        assert many == [0.8 * SEEN, 0.2 * SEEN, TESTED]
    if name not in OFFLINE:  # some of whose images are the same
        rows = [row.tobytes() for part in parts_of(data) for row in part.x]
        assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_and_nothing_else(name, made_images):
    np.random.seed(5)  # noqa: NPY002
    one, before = load_data(name, seed=1), np.random.get_state()[1].copy()  # noqa: NPY002
    np.random.seed(6)  # noqa: NPY002
    same, other = load_data(name, seed=1), load_data(name, seed=2)
    np.random.seed(5)  # noqa: NPY002
    assert np.array_equal(np.random.get_state()[1], before)  # nothing was drawn from it either  # noqa: NPY002
    for a, b, c in zip(parts_of(one), parts_of(same), parts_of(other), strict=True):
        assert np.array_equal(a.x, b.x)
        assert np.array_equal(a.y, b.y)
        assert np.array_equal(a.truth, b.truth)
        assert not np.array_equal(a.x, c.x)


@pytest.mark.parametrize("name", NAMES)
def test_fewer_rows_are_the_beginning_of_more(name, made_images):
    whole = load_data(name, seed=4)
    few = load_data(name, rows=20, seed=4)
    assert [len(part) for part in parts_of(few)] == [20, 5, min(20, len(whole.test))]
    for small, large in zip(parts_of(few), parts_of(whole), strict=True):
        assert np.array_equal(small.x, large.x[: len(small)])
        assert np.array_equal(small.y, large.y[: len(small)])
        assert small.truth is None or np.array_equal(small.truth, large.truth[: len(small)])


@pytest.mark.parametrize("name", NAMES)
def test_the_menu_agrees_with_the_data(name, made_images):
    data, told = load_data(name), describe().set_index("name").loc[name]
    assert told["description"] == data.description
    assert told["description"].endswith(".")
    assert told["columns"] == "{} x {} pixels".format(*SHAPES[name][1:])
    assert told["true features"] == ("the mouth" if name == "faces" else str(TRUE.get(name, "unknown")))
    if name in TRUE:
        assert {int(k) for part in parts_of(data) for k in part.truth.sum(1)} == {TRUE[name]}
    words = facts(data)
    assert {"rows", "classes", "features"} <= set(words)
    assert ("true features" in words) == (told["true features"] != "unknown")
    assert words["pixels"] == "{} x {}, {}".format(*SHAPES[name][1:], "grey" if SHAPES[name][0] == 1 else "in colour")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rows": 2000}, "rows=2,000 .*digits has 1,078"),
        ({"rows": 5}, "5 is too few"),
        ({"rows": 30.0}, "rows must be .*30.0"),
        ({"seed": -1}, "seed must be .*-1"),
    ],
)
def test_refusals(options, told):
    with pytest.raises(ValueError, match=told):
        load_data("digits", **options)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OFFLINE])
def test_a_missing_file_says_where_it_goes(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LEXPLAIN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError) as refusal:
        load_data(name)
    first = DATASETS[name].files[0]
    for word in (str(tmp_path / first.path), first.download.address if first.download else first.origin, "LEXPLAIN_DATA"):
        assert word in str(refusal.value)


def test_only_files_of_a_certain_address_are_fetched():
    files = {file for name in NAMES for file in getattr(DATASETS[name], "files", ())}
    assert {file for file in files if file.download} == {*MNIST_FILES, *FASHION_FILES}
    for file in (*MNIST_FILES, *FASHION_FILES):
        assert file.download.address.endswith(file.path.rpartition("/")[2] + ".gz")
        assert len({file.sha256, file.download.sha256}) == 2
    assert all(len(file.sha256) == 64 and file.origin.startswith("https://") for file in files)


# ---- the order of rows ----


@pytest.mark.parametrize("counts", [(50, 50), (5, 95), (30, 1, 60, 9)])
def test_every_beginning_holds_the_classes_in_proportion(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    order = interleaved(y, np.random.default_rng(0))
    assert sorted(order) == list(range(len(y)))
    share = np.array(counts) / len(y)
    for many in range(1, len(y) + 1):
        got = np.bincount(y[order[:many]], minlength=len(counts))
        assert (np.abs(got - many * share) <= 1 + len(counts) * share).all()


def test_every_row_of_a_class_may_come_first():
    draw = np.random.default_rng(0)
    first = np.bincount([interleaved(np.array([0, 0, 1, 1]), draw)[0] for _ in range(2000)], minlength=4)
    assert np.abs(first - 500).max() < 100


# ---- idx files ----


def stored(tmp_path, monkeypatch, content):
    monkeypatch.setenv("LEXPLAIN_DATA", str(tmp_path))
    (tmp_path / "some").write_bytes(content)
    return File("some", hashlib.sha256(content).hexdigest(), "https://example.org")


def test_idx_by_hand(tmp_path, monkeypatch):
    content = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255])
    assert idx(stored(tmp_path, monkeypatch, content), dimensions=2).tolist() == [[1, 2, 3], [4, 5, 255]]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "starts with nothing"),
        (b"\x00\x00\x08\x01\x00\x00", "starts with 00 00 08 01"),
        (b"\x00\x00\x09\x01\x00\x00\x00\x01\x00", "starts with 00 00 09 01, but an idx file of bytes in 1 dimensions"),
        (as_idx(np.zeros((2, 2))), "starts with 00 00 08 02"),
        (as_idx(np.zeros(5))[:-1], "its header announces 5 bytes, but 4 follow"),
        (as_idx(np.zeros(5)) + b"\x00", "its header announces 5 bytes, but 6 follow"),
    ],
)
def test_a_file_that_is_no_idx_file_is_refused(tmp_path, monkeypatch, content, told):
    with pytest.raises(ValueError, match=f"some cannot be read: .*{told}"):
        idx(stored(tmp_path, monkeypatch, content), dimensions=1)


def test_a_header_that_promises_the_world_is_refused(tmp_path, monkeypatch):
    content = bytes([0, 0, 8, 3, 128, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 4])  # 2^64, which is 0 in whole numbers of 64 bits
    with pytest.raises(ValueError, match="announces 2147483648 x 2147483648 x 4 bytes, but 0 follow"):
        idx(stored(tmp_path, monkeypatch, content), dimensions=3)


@pytest.mark.parametrize(
    ("images", "labels", "told"),
    [
        (np.zeros((3, 28, 27)), np.zeros(3), "its images are 28 x 27, not 28 x 28"),
        (np.zeros((3, 28, 28)), np.zeros(4), "it has 4 labels for 3 images"),
        (np.zeros((3, 28, 28)), np.array([0, 10, 1]), "label 10"),
    ],
)
def test_images_and_labels_that_do_not_fit_are_refused(images, labels, told, tmp_path, monkeypatch, image_files):
    names = [file.path for file in MNIST_FILES]
    put({**image_files, names[0]: as_idx(images), names[1]: as_idx(labels)}, tmp_path / "cache", monkeypatch)
    with pytest.raises(ValueError, match=told):
        load_data("mnist")


# ---- what the sets hold ----


@pytest.mark.parametrize(("name", "kind"), [("mnist", 0), ("fashion", 1)])
def test_every_image_has_its_own_label_and_side_of_the_split(name, kind, made_images):
    seen = []
    for part, tested in zip(parts_of(load_data(name, seed=2)), (0, 0, 1), strict=True):
        who = np.rint(part.x[:, 0, 0, :3] * 255).astype(int)  # (n, 3): number, kind, for testing
        assert np.array_equal(part.y, label_of(who[:, 0], kind))
        assert (who[:, 1:] == [kind, tested]).all()
        seen += [(number, tested) for number in who[:, 0]]
    assert sorted(seen) == sorted([(i, 0) for i in range(SEEN)] + [(i, 1) for i in range(TESTED)])


def test_three_is_class_0_and_eight_class_1(made_images):
    data = load_data("mnist38")
    for part in parts_of(data):
        number = np.rint(part.x[:, 0, 0, 0] * 255).astype(int)
        assert np.array_equal(np.where(part.y == 1, 8, 3), label_of(number, 0))


def test_digits_are_those_of_scikit_learn():
    x, y = load_digits(return_X_y=True)
    parts = parts_of(load_data("digits", seed=1))
    assert [len(part) for part in parts] == [1078, 270, 449]
    got = sorted((row.tobytes(), int(label)) for part in parts for row, label in zip(part.x, part.y, strict=True))
    assert got == sorted((row.tobytes(), int(label)) for row, label in zip((x / 16).astype(np.float32), y, strict=True))


TRAIN_COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
TEST_COUNTS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


@pytest.mark.parametrize(
    ("name", "seen", "tested"),
    [
        ("mnist", TRAIN_COUNTS, TEST_COUNTS),
        ("fashion", [6000] * 10, [1000] * 10),
        ("mnist38", [6131, 5851], [1010, 974]),
        ("chest_xray", [1341, 3875], [234, 390]),
        ("cats_dogs", [1000, 1000], [1000, 1000]),
    ],
)
def test_published_files_have_the_published_counts(name, seen, tested, loaded):
    data = loaded(name)
    assert (np.bincount(data.train.y) + np.bincount(data.validation.y)).tolist() == seen
    assert np.bincount(data.test.y).tolist() == tested
    if name in ("mnist", "fashion"):
        assert [len(part) for part in parts_of(data)] == [48_000, 12_000, 10_000]


# ---- on the command line ----


def test_images_are_no_table_but_an_npz_file(made_images):
    data = load_data("sp_mnist", rows=20)
    with pytest.raises(ValueError, match=r"sp_mnist .*\(1, 28, 56\).*npz"):
        part_as_bytes(data, "test", ".csv")
    with np.load(io.BytesIO(part_as_bytes(data, "test", ".npz"))) as written:
        assert np.array_equal(written["x"], data.test.x)
        assert np.array_equal(written["truth"], data.test.truth)


def test_rows_by_the_name_of_a_set(made_images):
    found, data = find_rows("faces", "test"), load_data("faces")
    assert np.array_equal(found.x, data.test.x)
    assert np.array_equal(found.truth, data.test.truth)
