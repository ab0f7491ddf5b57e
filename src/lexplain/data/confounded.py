"""Data sets with a confounder, to test "right for the right reasons": it predicts the class in training and misleads in the test.

Train and validation splits share the confounder; the test split does not. `DataSplit.truth` marks features that may be used, and
`confound(split)` is the matching irrelevant_mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import train_test_split

from lexplain import check
from lexplain.core import Dataset, DataSplit

from .images import MNIST_FILES, from_idx

CLASSES = 10
IRIS = 4  # columns
_FLOWER = ("sepal length", "sepal width", "petal length", "petal width")
_TUMOUR = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)


def confound(part: DataSplit) -> np.ndarray:
    """The irrelevant_mask (n, d) of a split with known ground truth: 1 = must not be used."""
    if part.truth is None:
        raise ValueError("The ground truth of this split is unknown. Pass your own irrelevant_mask.")
    return ~np.asarray(part.truth, dtype=bool)


@dataclass(frozen=True)
class Confounded:
    """A data set with a confounder. Call it to get the Dataset.

    Args:
        make: Function from (rows or None, seed) to the three splits.
        truth_sizes: Number of features that may be used.
    """

    name: str
    description: str
    names: tuple[str, ...]
    make: Callable[[int | None, int], tuple[DataSplit, DataSplit, DataSplit]]
    truth_sizes: tuple[int, ...]
    control_flow: None = None

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    def __call__(self, *, rows: int | None = None, seed: int = 0) -> Dataset:
        """Make the splits, with at most `rows` training rows; the same seed gives the same rows."""
        check.counts(rows=rows)
        return Dataset(self.name, self.description, *self.make(rows, seed), self.names)


def decoyed(x: np.ndarray, shades: np.ndarray, generator: np.random.Generator, *, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, side, side) in [0, 1] with a swatch in a random corner, darker for higher shades, and a mask of the other pixels.

    The published shade is 255 - 25 s of 0 to 255, for classes 0 to 9.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, section 4.2 (Decoy MNIST), and the code released with it.
    """
    n, side = len(x), x.shape[1]
    low = generator.integers(2, size=(2, n)).astype(bool)  # row side and column side
    near = np.arange(side) < size
    rows, columns = (np.where(end[:, None], near, near[::-1]) for end in low)  # (n, side)
    swatch = rows[:, :, None] & columns[:, None, :]  # (n, side, side)
    value = ((255 - 25 * shades) / 255).astype(np.float32)
    return np.where(swatch, value[:, None, None], x).astype(np.float32), ~swatch


def _decoy_parts(pictures: Iterable[tuple[np.ndarray, np.ndarray]], seed: int, *, size: int) -> tuple[DataSplit, DataSplit, DataSplit]:
    """Add swatches to three pairs (images, classes): they show the class in the first two and are random in the last."""
    parts = []
    for place, (x, y) in enumerate(pictures):
        generator = np.random.default_rng([seed, place])
        shades = y if place < 2 else generator.integers(CLASSES, size=len(y))
        images, may = decoyed(x, shades, generator, size=size)
        parts.append(DataSplit(images.reshape(len(x), -1), y, may.reshape(len(x), -1)))
    return parts[0], parts[1], parts[2]


def _decoy_digits(rows: int | None, seed: int) -> tuple[DataSplit, DataSplit, DataSplit]:
    stored = load_digits()
    x, y = (stored.images / 16).astype(np.float32), stored.target.astype(np.int64)
    seen, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
    train, validation = train_test_split(seen, test_size=0.1, stratify=y[seen], random_state=seed)
    return _decoy_parts([(x[part], y[part]) for part in (train[:rows], validation, test)], seed, size=2)


def _decoy_mnist(rows: int | None, seed: int) -> tuple[DataSplit, DataSplit, DataSplit]:
    digits = from_idx(MNIST_FILES)
    (x, y), test = ((digits.x[side, 0] / np.float32(255), digits.y[side]) for side in (~digits.test, digits.test))
    order = np.random.default_rng([seed, 3]).permutation(len(y))
    held = order[: len(y) // 10]
    train = order[len(held) :][:rows]
    return _decoy_parts([(x[train], y[train]), (x[held], y[held]), test], seed, size=4)


def iris_beside_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Rows (100, 34) in raw units, each an iris and a tumour of the same class, and their classes (100,)."""
    flowers, tumours = load_iris(), load_breast_cancer()
    iris = flowers.data[flowers.target > 0]
    cancer = np.concatenate([tumours.data[tumours.target == kind][:50] for kind in (0, 1)])
    return np.concatenate([iris, cancer], axis=1).astype(np.float32), np.repeat(np.arange(2), 50)


def _iris_cancer(rows: int | None, seed: int) -> tuple[DataSplit, DataSplit, DataSplit]:
    x, y = iris_beside_cancer()
    train, test = train_test_split(np.arange(100), test_size=0.33, random_state=seed)
    may = np.broadcast_to(np.arange(x.shape[1]) >= IRIS, x.shape)
    gone = np.where(may, x, 0.0).astype(np.float32)
    train, validation = train[10:][:rows], train[:10]
    return (
        DataSplit(x[train], y[train], may[train]),
        DataSplit(x[validation], y[validation], may[validation]),
        DataSplit(gone[test], y[test], may[test]),
    )


def _pixels(side: int) -> tuple[str, ...]:
    return tuple(f"pixel {i},{j}" for i in range(side) for j in range(side))


decoy_mnist = Confounded(
    "decoy_mnist",
    "MNIST digits with a 4 x 4 swatch in a corner whose shade shows the class in training and nothing in the test.",
    _pixels(28),
    _decoy_mnist,
    (768,),
)
decoy_digits = Confounded(
    "decoy_digits",
    "Digits of 8 x 8 pixels with a 2 x 2 swatch in a corner whose shade shows the class in training and nothing in the test.",
    _pixels(8),
    _decoy_digits,
    (60,),
)
iris_cancer = Confounded(
    "iris_cancer",
    "Thirty measurements of a tumour, and four of an iris of the same class in training; in the test these are 0.",
    (*_FLOWER, *(name for kind in ("mean {}", "{} error", "worst {}") for name in map(kind.format, _TUMOUR))),
    _iris_cancer,
    (30,),
)
CONFOUNDED = (decoy_mnist, decoy_digits, iris_cancer)
