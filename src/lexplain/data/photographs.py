"""Photographs in one zip file per data set, with a labels.csv; nothing is unpacked to disk."""

from __future__ import annotations

import csv
import io
import zlib
from dataclasses import dataclass
from functools import partial
from zipfile import BadZipFile, ZipFile

import numpy as np
from PIL import Image, UnidentifiedImageError

from .cache import File, require_known_format
from .images import Images, RawImages

MOST_BYTES = 1 << 22  # of one file in an archive, unpacked


@dataclass(frozen=True)
class PhotoArchive:
    """The photographs of an archive, decoded on access, and its labels.csv."""

    archive: ZipFile
    table: dict[str, list[str]]  # column -> n cells
    file: str  # the archive's name, for error messages
    side: int
    mode: str

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of all photographs as an array."""
        return len(self.table["file"]), len(self.mode), self.side, self.side  # one letter per channel

    def __getitem__(self, index: np.ndarray) -> np.ndarray:
        """Some photographs (n, channels, side, side) of uint8."""
        x = np.empty((len(index), self.side, self.side, len(self.mode)), dtype=np.uint8)
        for row, i in zip(x, index, strict=True):
            name = self.table["file"][i]
            row[:] = _decoded(_member(self.archive, name, self.file), f"{self.file}: {name}", self.side, self.mode).reshape(row.shape)
        return x.transpose(0, 3, 1, 2)

    def labels(self, column: str) -> np.ndarray:
        """A column of 0 and 1, as (n,) of int64."""
        invalid = sorted(set(self.table[column]) - {"0", "1"})
        require_known_format(not invalid, self.file, f"labels.csv has {invalid[:3]} in its column {column!r}, where 0 or 1 is needed")
        return np.array(self.table[column]).astype(np.int64)

    @property
    def test(self) -> np.ndarray:
        """(n,) of bool: True for photographs of the test split."""
        invalid = sorted(set(self.table["split"]) - {"train", "test"})
        require_known_format(not invalid, self.file, f"labels.csv has {invalid[:3]} in its column 'split', where train or test is needed")
        return np.array([word == "test" for word in self.table["split"]])


def album(file: File, *columns: str, side: int, mode: str) -> PhotoArchive:
    """Open an archive of photographs.

    Args:
        file: The archive.
        columns: Columns that labels.csv must have in addition to `file` and `split`.
        side: Height and width of each photograph in pixels.
        mode: Pillow's mode: L for grey, RGB for colour.
    """
    try:
        archive = ZipFile(io.BytesIO(file.read()))
    except BadZipFile as broken:
        raise ValueError(f"{file.path} is damaged or not a zip file ({broken}). Replace it.") from None
    return PhotoArchive(
        archive, _table(_member(archive, "labels.csv", file.path), ("file", "split", *columns), file.path), file.path, side, mode
    )


def _member(archive: ZipFile, name: str, path: str) -> bytes:
    entry = archive.NameToInfo.get(name)
    require_known_format(entry is not None, path, f"it has no file named {name}")
    assert entry is not None
    require_known_format(entry.file_size <= MOST_BYTES, path, f"{name} unpacks to {entry.file_size:,} bytes, more than {MOST_BYTES:,}")
    try:
        return archive.read(entry)
    except (BadZipFile, zlib.error, EOFError) as broken:
        raise ValueError(f"{path} is damaged ({broken}). Replace it.") from None


def _table(content: bytes, needed: tuple[str, ...], path: str) -> dict[str, list[str]]:
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    except UnicodeDecodeError:
        rows = []
    header = rows[0] if rows else []
    missing = [name for name in needed if name not in header]
    require_known_format(not missing, path, f"labels.csv lacks the columns {missing}")
    require_known_format(
        len(rows) > 1 and all(len(row) == len(header) for row in rows), path, "labels.csv has no rows, or rows of other lengths"
    )
    columns = list(zip(*rows[1:], strict=True))
    return {name: list(columns[header.index(name)]) for name in needed}


def _decoded(content: bytes, name: str, side: int, mode: str) -> np.ndarray:
    try:
        with Image.open(
            io.BytesIO(content), formats=["JPEG"]
        ) as image:  # only reads the header, so that the size is checked before decoding
            require_known_format(image.size == (side, side), name, f"the image is {image.width} x {image.height}, not {side} x {side}")
            return np.asarray(image.convert(mode))
    except (UnidentifiedImageError, OSError) as broken:
        raise ValueError(f"{name} is damaged or not a JPEG image ({str(broken)[:100]}). Replace the file.") from None


def labelled(files: tuple[File, ...], _: np.random.Generator, *, side: int, mode: str) -> RawImages:
    """The photographs of an archive with the column `label`."""
    photos = album(files[0], "label", side=side, mode=mode)
    return RawImages(photos, photos.labels("label"), photos.test)


chest_xray = Images(
    "chest_xray",
    "Whether an X-ray of a child's chest is normal (class 0) or shows pneumonia (class 1).",
    (128, 128),
    partial(labelled, side=128, mode="L"),
    (
        File(
            "chest_xray/chest_xray_128.zip",
            "860956d41f3046e7831b0b3343f94af33e72ebcc50a031802a89752c0ff6c7f9",
            "https://data.mendeley.com/datasets/rscbjbr9sj (it holds the train and test images at 128 x 128, and labels.csv)",
            prepared=True,
        ),
    ),
    8,
)
"""5,216 X-rays and 624 for testing, squeezed into squares; features are squares of 8 x 8 pixels, a grid of 16 x 16.

Reference:
    Kermany et al., "Identifying Medical Diagnoses and Treatable Diseases by Image-Based Deep Learning", 2018 (CC BY 4.0).
"""

cats_dogs = Images(
    "cats_dogs",
    "Whether a photograph shows a cat (class 0) or a dog (class 1).",
    (96, 96),
    partial(labelled, side=96, mode="RGB"),
    (
        File(
            "cats_dogs/cats_dogs_96.zip",
            "f18dacfd13a83edee4ab794a27e031d95d175c918997ada6a2b0d9a618caed51",
            "https://www.kaggle.com/c/dogs-vs-cats (it holds centre squares of 4,000 images at 96 x 96, and labels.csv)",
            prepared=True,
        ),
    ),
    8,
)
"""2,000 photographs and 2,000 for testing, in colour; features are squares of 8 x 8 pixels, a grid of 12 x 12. No licence is stated.

Reference:
    Elson, Douceur, Howell and Saul, "Asirra: A CAPTCHA that Exploits Interest-Aligned Manual Image Categorization", 2007.
"""

PHOTOGRAPHS = (chest_xray, cats_dogs)
