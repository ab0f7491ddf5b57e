"""Kinds whose numbers are checked while a device is at work; rows of other kinds are checked as they are encoded."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..core.contracts import Encoded, Features, RawRows
from ..features import patches_of

EncodeUnchecked = Callable[[Features, RawRows, torch.device], tuple[Encoded, Callable[[], None]]]


def _images(features: Features, X: RawRows, device: torch.device) -> tuple[Encoded, Callable[[], None]]:
    return patches_of(features).encode_unchecked(X, device)


# Numbers of these kinds are many, and are checked while a GPU is at work.
CHECKED_MEANWHILE: dict[str, EncodeUnchecked] = {"patches": _images}
