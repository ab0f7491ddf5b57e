"""The handwritten digits of MNIST, read from its own format."""

from __future__ import annotations

import numpy as np

from lexplain import check

from .cache import File

_AT = "https://yann.lecun.com/exdb/mnist (also https://ossci-datasets.s3.amazonaws.com/mnist)"
FILES = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def read_idx(content: bytes, name: str) -> np.ndarray:
    """An array of bytes from its IDX file: two zeros, the type, the number of axes, their sizes, the values."""
    axes = check.idx_header(content, name)
    sizes = np.frombuffer(content, ">u4", axes, 4).astype(int)
    return np.frombuffer(content, np.uint8, int(np.prod(sizes)), 4 + 4 * axes).reshape(tuple(sizes))


def mnist_digits() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """(60,000, 28, 28) pictures in [0, 1] and their classes, and 10,000 to test on.

    Reference:
        LeCun, Bottou, Bengio and Haffner, "Gradient-Based Learning Applied to Document Recognition", 1998.
    """
    train_x, train_y, test_x, test_y = (read_idx(File(f"mnist/{name}", digest, _AT).read(), name) for name, digest in FILES.items())
    return ((train_x / np.float32(255)), train_y.astype(np.int64)), ((test_x / np.float32(255)), test_y.astype(np.int64))
