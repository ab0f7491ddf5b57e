import io
import zipfile

import numpy as np
import pytest
from made_images import SEEN, TESTED, as_jpeg, as_zip, put

from lexplain.data import load_data
from lexplain.data.photographs import MOST_BYTES

SETS = {"chest_xray": "chest_xray/chest_xray_128.zip", "cats_dogs": "cats_dogs/cats_dogs_96.zip", "faces": "mtfl_faces/mtfl_faces_64.zip"}


def parts_of(data):
    return data.train, data.validation, data.test


@pytest.mark.parametrize("name", SETS)
def test_every_photograph_has_its_own_label_and_side_of_the_split(name, made_images):
    seen = []
    for part, tested in zip(parts_of(load_data(name, seed=1)), (False, False, True), strict=True):
        assert np.ptp(part.x, axis=(1, 2, 3)).max() < 0.02  # one colour each
        number = np.rint(part.x.mean((1, 2, 3)) * 255).astype(int) - 40
        assert np.array_equal(part.y, number % 2)
        assert ((number >= SEEN) == tested).all()
        seen += number.tolist()
    assert sorted(seen) == list(range(SEEN + TESTED))


def test_rows_columns_and_channels_stay_where_they_are(tmp_path, monkeypatch):
    picture = np.zeros((96, 96, 3), np.uint8)
    picture[:48] = [200, 0, 0]  # red above
    picture[48:, 48:] = [0, 0, 200]  # blue below on the right
    rows = [{"file": f"{i}.jpg", "split": "train" if i < 60 else "test", "label": i % 2} for i in range(80)]
    put({SETS["cats_dogs"]: as_zip({row["file"]: as_jpeg(picture) for row in rows}, rows)}, tmp_path, monkeypatch)
    x = load_data("cats_dogs").train.x[0] * 255
    assert x[:, 20, 20] == pytest.approx([200, 0, 0], abs=12)
    assert x[:, 70, 70] == pytest.approx([0, 0, 200], abs=12)
    assert x[:, 70, 20] == pytest.approx([0, 0, 0], abs=12)


def test_only_what_is_asked_for_is_decoded(made_images, monkeypatch):
    from lexplain.data import photographs

    asked, decoded = [], photographs._decoded
    monkeypatch.setattr(photographs, "_decoded", lambda *given: asked.append(given) or decoded(*given))
    load_data("chest_xray", rows=20)
    assert len(asked) == 20 + 5 + 20


# ---- refusals ----

GOOD = [{"file": f"{i}.jpg", "split": "train" if i < 60 else "test", "label": str(i % 2)} for i in range(80)]
JPEG = as_jpeg(np.zeros((128, 128), np.uint8))


def changed(column, cell):
    return [{**GOOD[0], column: cell}, *GOOD[1:]]


def lacks(column):
    return [{key: cell for key, cell in row.items() if key != column} for row in GOOD]


def archive(rows=GOOD, image=JPEG):
    return as_zip({row["file"]: image for row in GOOD}, rows)


def damaged():
    content = bytearray(archive())
    content[content.index(JPEG) + 50] ^= 255  # the first image, whose checksum is no longer its own
    return bytes(content)


def without_labels():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as empty:
        empty.writestr("0.jpg", JPEG)
    return content.getvalue()


def too_large():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("labels.csv", b"0" * (MOST_BYTES + 1))
    return content.getvalue()


def labels_of(text):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as odd:
        odd.writestr("labels.csv", text)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no zip", "not a zip file"),
        (archive()[:-30], "not a zip file"),
        (damaged(), "is damaged .*0.jpg"),
        (without_labels(), "it has no file named labels.csv"),
        (too_large(), "labels.csv unpacks to 4,194,305 bytes, more than 4,194,304"),
        (labels_of(""), r"labels.csv lacks the columns \['file', 'split', 'label'\]"),
        (labels_of(b"\xff\xfe"), "labels.csv lacks the columns"),
        (labels_of("file,split,label\n"), "labels.csv has no rows"),
        (labels_of("file,split,label\na.jpg,train\n"), "rows of other lengths"),
        (archive(lacks("label")), r"labels.csv lacks the columns \['label'\]"),
        (archive(changed("label", "2")), r"labels.csv has \['2'\] in its column 'label', where 0 or 1 is needed"),
        (archive(changed("split", "val")), r"labels.csv has \['val'\] in its column 'split'"),
        (archive(changed("file", "../../etc/passwd")), "it has no file named ../../etc/passwd"),
        (archive(image=b"no image"), "not a JPEG image"),
        (archive(image=JPEG[:400]), "not a JPEG image"),
        (archive(image=as_jpeg(np.zeros((128, 127), np.uint8))), "the image is 127 x 128, not 128 x 128"),
    ],
)
def test_what_is_not_understood_is_refused(content, told, tmp_path, monkeypatch):
    put({SETS["chest_xray"]: content}, tmp_path, monkeypatch)
    with pytest.raises(ValueError, match=told):
        load_data("chest_xray")


def test_only_jpeg_is_read(tmp_path, monkeypatch):
    from PIL import Image

    content = io.BytesIO()
    Image.new("L", (128, 128)).save(content, "PNG")
    put({SETS["chest_xray"]: archive(image=content.getvalue())}, tmp_path, monkeypatch)
    with pytest.raises(ValueError, match="not a JPEG image"):
        load_data("chest_xray")
