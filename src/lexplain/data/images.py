"""Image data sets: splits and scaling, and the handwritten digits and clothes of idx files."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.datasets import load_digits

from lexplain.core import Dataset, DataSplit
from lexplain.features import Patches

from ..check import FEWEST_ROWS
from ..core.contracts import RawRows
from .cache import Download, File, require_known_format
from .synthetic import draw_fits

SIDE = 28  # pixels of MNIST's and Fashion-MNIST's images, both ways


@dataclass(frozen=True)
class RawImages:
    """All stored images of a data set, before they are split."""

    x: RawRows  # (n, channels, height, width) of uint8: an array, or an object that decodes images when it is indexed
    y: np.ndarray  # (n,) of int64
    test: np.ndarray  # (n,) of bool: the published test split
    truth: np.ndarray | None = None  # (n, d) of bool
    white: int = 255  # value that is scaled to 1.0

    def part(self, index: np.ndarray) -> DataSplit:
        """Some images as rows, float32 in [0, 1]."""
        x = self.x[index].astype(np.float32, order="C")
        x /= self.white
        return DataSplit(x, self.y[index], None if self.truth is None else self.truth[index])


@dataclass(frozen=True)
class Images:
    """An image data set. Call it to get the Dataset: of the rows that are not for testing, 80 % are for training and 20 % for validation.

    Args:
        read: Function from the files and a random generator to the images.
        patch: Side of the square that is one feature, in pixels.
        truth_sizes: Number of true features; empty if unknown.
    """

    name: str
    description: str
    size: tuple[int, int]  # rows and columns of pixels
    read: Callable[[tuple[File, ...], np.random.Generator], RawImages]
    files: tuple[File, ...] = ()
    patch: int = 1
    truth_sizes: tuple[int, ...] = ()
    control_flow: None = None

    @property
    def columns(self) -> str:
        """The size of an image."""
        return f"{self.size[0]} x {self.size[1]} pixels"

    def __call__(self, *, rows: int | None = None, seed: int = 0) -> Dataset:
        """Split the images. Fewer rows are the first of more rows.

        Args:
            rows: Number of training rows; validation rows in proportion, and at most as many test rows. None: all.
            seed: Random seed of the split, the order and random parts of images. The same seed gives the same rows.
        """
        rows_and_seed(rows, seed)
        split, drawn = np.random.default_rng(seed).spawn(2)
        return divided(self.name, self.description, self.read(self.files, drawn), rows=rows, split=split, patch=self.patch)


def divided(name: str, description: str, pictures: RawImages, *, rows: int | None, split: np.random.Generator, patch: int) -> Dataset:
    """Split images so that the first rows of each split contain the classes in proportion."""
    seen, test = (np.flatnonzero(side)[interleaved(pictures.y[side], split)] for side in (~pictures.test, pictures.test))
    learn = round(0.8 * len(seen))
    if rows is not None and rows > learn:
        raise ValueError(f"rows={rows:,} is too many: {name} has {learn:,} training rows.")
    n_train = learn if rows is None else rows
    held = len(seen) - learn if rows is None else max(round(n_train * (len(seen) - learn) / learn), 1)
    parts = [seen[:n_train], seen[learn:][:held], test if rows is None else test[:n_train]]
    train, validation, tested = map(pictures.part, parts)
    features = Patches(patch, layout="NCHW")
    return Dataset(name, description, train, validation, tested, features.fit(train.x[:1]).input_names, features=features)


def rows_and_seed(rows: int | None, seed: int) -> None:
    """Check the number of rows and the seed."""
    draw_fits(FEWEST_ROWS if rows is None else rows, seed, 0, 0.0)


def interleaved(y: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """A random order (n,) of rows with the classes of y (n,) interleaved, so that any slice contains them in proportion."""
    place = np.empty(len(y))
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        place[rows] = (draw.permutation(len(rows)) + draw.random(len(rows))) / len(rows)
    return np.argsort(place, kind="stable")


# ---- idx files, the format of MNIST ----


def idx(file: File, *, dimensions: int) -> np.ndarray:
    """Read an idx file of bytes: 0, 0, 8 for bytes, the number of dimensions, each size in four bytes (big endian), and the values."""
    content = file.read()
    start = 4 + 4 * dimensions
    require_known_format(
        content[:4] == bytes([0, 0, 8, dimensions]) and len(content) >= start,
        file.path,
        f"it starts with {content[:4].hex(' ') or 'nothing'}, but an idx file of bytes in {dimensions} dimensions was expected",
    )
    shape = struct.unpack(f">{dimensions}I", content[4:start])
    require_known_format(
        len(content) - start == int(np.prod(shape, dtype=object)),
        file.path,
        f"its header announces {' x '.join(map(str, shape))} bytes, but {len(content) - start:,} follow",
    )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def from_idx(files: tuple[File, ...], _: np.random.Generator | None = None, *, only: tuple[int, ...] = tuple(range(10))) -> RawImages:
    """Training images and labels, then test images and labels; only the classes in `only`, numbered in their order."""
    x, y = zip(*(_labelled(*files[start : start + 2], only=only) for start in (0, 2)), strict=True)
    test = np.repeat([False, True], [len(labels) for labels in y])
    return RawImages(np.concatenate(x), np.concatenate(y), test)


def _labelled(images: File, labels: File, *, only: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    x, y = idx(images, dimensions=3), idx(labels, dimensions=1)
    require_known_format(x.shape[1:] == (SIDE, SIDE), images.path, f"its images are {x.shape[1]} x {x.shape[2]}, not {SIDE} x {SIDE}")
    require_known_format(len(x) == len(y), labels.path, f"it has {len(y):,} labels for {len(x):,} images")
    require_known_format(y.max(initial=0) < 10, labels.path, f"it contains the label {y.max(initial=0)}, but there are 10 classes")
    kept = np.isin(y, only)
    return x[kept][:, None], np.searchsorted(only, y[kept]).astype(np.int64)


def _published(folder: str, address: str, origin: str, *sums: tuple[str, str]) -> tuple[File, ...]:
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    return tuple(
        File(f"{folder}/{name}", content, origin, Download(f"{address}/{name}.gz", packed))
        for name, (content, packed) in zip(names, sums, strict=True)
    )


MNIST_FILES = _published(
    "mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://yann.lecun.com/exdb/mnist/",
    (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    (
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    (
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    (
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
)
FASHION_FILES = _published(
    "fashion-mnist",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    "https://github.com/zalandoresearch/fashion-mnist",
    (
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    ),
    (
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    ),
    (
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    (
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    ),
)

mnist = Images("mnist", "Which digit is written, 0 to 9 (MNIST).", (SIDE, SIDE), from_idx, MNIST_FILES)
"""Seventy thousand handwritten digits, 10,000 of them for testing.

Reference:
    LeCun, Bottou, Bengio and Haffner, "Gradient-Based Learning Applied to Document Recognition", 1998.
"""

fashion = Images("fashion", "Which of ten kinds of clothing it is (Fashion-MNIST).", (SIDE, SIDE), from_idx, FASHION_FILES)
"""Seventy thousand photographs of clothes, 10,000 of them for testing: T-shirt, trousers, pullover, dress, coat, sandal, shirt, trainer,
bag, boot.

Reference:
    Xiao, Rasul and Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning Algorithms", 2017 (MIT licence).
"""

mnist38 = Images(
    "mnist38", "Whether a written 3 (class 0) or 8 (class 1) is seen (MNIST).", (SIDE, SIDE), partial(from_idx, only=(3, 8)), MNIST_FILES, 4
)
"""L2X's 3 against 8, 11,982 digits and 1,984 for testing; squares of 4 x 4 pixels are the features, 49 of them.

Reference:
    Chen, Song, Wainwright and Jordan, "Learning to Explain: An Information-Theoretic Perspective on Model Interpretation", 2018,
    section 4.3.
"""


def small_digits(_: tuple[File, ...], draw: np.random.Generator) -> RawImages:
    """Scikit-learn's 1,797 digits, a quarter of them for testing."""
    x, y = load_digits(return_X_y=True)
    test = np.zeros(len(y), dtype=bool)
    test[interleaved(y, draw)[: round(len(y) / 4)]] = True
    return RawImages(x.astype(np.uint8).reshape(-1, 1, 8, 8), y.astype(np.int64), test, white=16)


digits = Images("digits", "Which digit is written, 0 to 9, in few pixels (scikit-learn's digits).", (8, 8), small_digits)
"""Handwritten digits of 32 x 32 points, counted in squares of 4 x 4; scikit-learn contains the 1,797 of the test split.

Reference:
    Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998.
"""

IMAGES = (mnist, fashion, mnist38, digits)
