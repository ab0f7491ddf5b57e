"""Reproducible random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state

from .contracts import RandomState

_LOCK = Lock()
_BEFORE: list[tuple[bool, bool]] = []  # cuDNN's settings at the start of each open block; the first are the caller's


@contextmanager
def _repeatable() -> Iterator[None]:
    """Use deterministic convolutions on a GPU while a block is open in any thread: the setting belongs to the whole process."""
    cudnn: Any = torch.backends.cudnn
    with _LOCK:
        _BEFORE.append((cudnn.deterministic, cudnn.benchmark))
        cudnn.deterministic, cudnn.benchmark = True, False
    try:
        yield
    finally:
        with _LOCK:
            before = _BEFORE.pop()
            if not _BEFORE:
                cudnn.deterministic, cudnn.benchmark = before


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Use `seed` for random numbers inside the block, and restore the caller's random state."""
    with _repeatable(), torch.random.fork_rng(devices=range(torch.cuda.device_count())):  # otherwise torch warns if there are several
        torch.manual_seed(seed)
        yield


@contextmanager
def numpy_seeded(seed: int) -> Iterator[None]:
    """Seed NumPy's global random numbers, which shap uses, and restore the caller's state."""
    state = np.random.get_state()  # noqa: NPY002  shap uses the global state and accepts no generator
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def seed_of(random_state: RandomState, *, below: int = 2**31 - 1) -> int:
    """The seed of a scikit-learn `random_state`; a sampled seed is smaller than `below`."""
    return int(random_state) if isinstance(random_state, (int, np.integer)) else int(check_random_state(random_state).randint(below))
