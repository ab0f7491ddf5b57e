"""Draws that repeat themselves."""

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
_BEFORE: list[tuple[bool, bool]] = []  # cuDNN's settings at the start of each open block; the first are those of the caller


@contextmanager
def _repeatable() -> Iterator[None]:
    """Convolutions that repeat themselves on a GPU, while a block of any thread is open: the setting is one of the whole process."""
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
    """Draw from `seed` inside the block, repeatably, and leave the caller's random state as it was."""
    with _repeatable(), torch.random.fork_rng(devices=range(torch.cuda.device_count())):  # named, or torch warns where there are several
        torch.manual_seed(seed)
        yield


@contextmanager
def numpy_seeded(seed: int) -> Iterator[None]:
    """Draw NumPy's global numbers, which shap uses, from a seed, and leave the caller's as they were."""
    state = np.random.get_state()  # noqa: NPY002  shap draws from the global state and takes no generator
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def seed_of(random_state: RandomState, *, below: int = 2**31 - 1) -> int:
    """A seed, of whatever scikit-learn takes for one; one that is drawn is smaller than `below`."""
    return int(random_state) if isinstance(random_state, (int, np.integer)) else int(check_random_state(random_state).randint(below))
