"""Made files of images in the formats of the real ones, small enough for any machine."""

import csv
import gzip
import hashlib
import io
import struct
import zipfile
from dataclasses import replace

import numpy as np
from PIL import Image

from lexplain.data import DATASETS
from lexplain.data.cache import File

SEEN, TESTED = 160, 40  # images of a made set; a byte can number them


def label_of(number, kind):
    """The label of an image of the first or the second set (kind 0 or 1)."""
    return (number * (3, 7)[kind] + kind) % 10


def as_idx(array):
    """The bytes of an idx file."""
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(np.uint8).tobytes()


def made_idx(kind):
    """The four files of a set: image i says in its corner who it is, (i, kind, 1 if it is for testing), and is noise elsewhere."""
    draw = np.random.default_rng(kind)
    files = []
    for test, many in enumerate((SEEN, TESTED)):
        x = draw.integers(0, 256, (many, 28, 28))
        x[:, 0, :3] = np.stack([np.arange(many), np.full(many, kind), np.full(many, test)], axis=1)
        files += [as_idx(x), as_idx(label_of(np.arange(many), kind))]
    return files


def as_jpeg(array):
    """An image as the bytes of a JPEG file."""
    content = io.BytesIO()
    Image.fromarray(array).save(content, "JPEG", quality=95)
    return content.getvalue()


def as_zip(images, rows):
    """An archive of named images (bytes), and labels.csv of these rows (dicts)."""
    content, table = io.BytesIO(), io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    with zipfile.ZipFile(content, "w") as archive:
        for name, image in images.items():
            archive.writestr(name, image)
        archive.writestr("labels.csv", table.getvalue())
    return content.getvalue()


def made_photographs(side, channels, label, more):
    """Photographs of one colour each, which tells image i: grey 40 + i."""
    rows = [{"file": f"{i % 2}/{i}.jpg", "split": "train" if i < SEEN else "test", label: str(i % 2)} for i in range(SEEN + TESTED)]
    shape = (side, side, channels) if channels > 1 else (side, side)
    images = {row["file"]: as_jpeg(np.full(shape, 40 + i, np.uint8)) for i, row in enumerate(rows)}
    return as_zip(images, [{**row, "odd": "more", **more(i)} for i, row in enumerate(rows)])


def mouth(i):
    """The corners of a mouth that lies level and wanders down with i, 16 pixels long."""
    return {"x_lmouth": "24", "y_lmouth": f"{20 + i % 30}.3", "x_rmouth": "40", "y_rmouth": f"{20 + i % 30}.3"}


def put(made, cache, monkeypatch):
    """Write files into a cache of their own, and let the data sets know them by their checksums."""
    for path, content in made.items():
        place = cache / f"{path}.gz"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(content, 1))
    monkeypatch.setenv("LEXPLAIN_DATA", str(cache))
    for name, source in DATASETS.items():
        files = getattr(source, "files", ())
        if files and all(file.path in made for file in files):
            known = tuple(File(f.path, hashlib.sha256(made[f.path]).hexdigest(), f.origin) for f in files)
            monkeypatch.setitem(DATASETS, name, replace(source, files=known))


def image_files():
    """The content of each file of images: the format of the real one, and few images."""
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    made = {
        f"{folder}/{name}": file
        for kind, folder in enumerate(("mnist", "fashion-mnist"))
        for name, file in zip(names, made_idx(kind), strict=True)
    }
    return made | {
        "chest_xray/chest_xray_128.zip": made_photographs(128, 1, "label", lambda i: {}),
        "cats_dogs/cats_dogs_96.zip": made_photographs(96, 3, "label", lambda i: {}),
        "mtfl_faces/mtfl_faces_64.zip": made_photographs(64, 3, "smile", mouth),
    }
