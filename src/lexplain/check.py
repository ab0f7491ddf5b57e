"""The refusals that several folders share: what was given, what is needed, the way out. And `require` for optional tools.

What one folder alone refuses stands where it is raised.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

FEWEST_ROWS = 20  # a tenth of fewer rows than this cannot judge anything


def require(name: str, extra: str) -> ModuleType:
    """Import an optional tool, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise ImportError(f"{name} is not installed; run: pip install 'lexplain[{extra}]'") from missing


def one_of(name: str, choices: Sequence[str], what: str) -> str:
    """Refuse a name that is not on the menu."""
    if name not in choices:
        raise ValueError(f"{name!r} is no {what}; choose one of: {', '.join(sorted(choices))}")
    return name


def readable(path: Path) -> Path:
    """Refuse a file that is not there."""
    if not path.is_file():
        raise FileNotFoundError(f"no file at {path}; check the path")
    return path


def enough_rows(rows: int) -> None:
    """Refuse a fit on too few rows to split."""
    if rows < FEWEST_ROWS:
        raise ValueError(
            f"n_samples={rows} is too few: at least {FEWEST_ROWS} rows are needed to fit and to check the fit on rows it has not seen"
        )


def fitted(explainer: object) -> None:
    """Refuse to explain before fit."""
    if not hasattr(explainer, "features_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {type(explainer).__name__} instance is not fitted yet; call fit(X, y) or fit(X, model=...) first")


def enough_features(count: int) -> None:
    """Refuse a table of one feature."""
    if count < 2:
        raise ValueError(f"n_features={count}: with {count} feature(s) there is nothing to select; at least 2 are needed")


def positive(**numbers: float | None) -> None:
    """Refuse settings that are not above zero."""
    above_zero(**{name: value for name, value in numbers.items() if value is not None})


def above_zero(**numbers: Any) -> None:
    """Refuse what is no number above zero, None too."""
    for name, value in numbers.items():
        if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and value > 0):
            raise ValueError(f"{name}={value!r}, but a number above 0 is needed")


def counts(**numbers: int | None) -> None:
    """Refuse settings that are not whole numbers above zero."""
    for name, value in numbers.items():
        if value is not None and not (isinstance(value, (int, np.integer)) and value > 0):
            raise ValueError(f"{name}={value!r}, but a whole number above 0 is needed")


def ending(path: Path, endings: Sequence[str]) -> str:
    """Return the ending of a file's name; refuse one that cannot be read or written."""
    if path.suffix.lower() not in endings:
        raise ValueError(f"{path} ends in {path.suffix!r}, which is not known here; choose one of: {', '.join(endings)}")
    return path.suffix.lower()


def not_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Refuse to write a table of nothing."""
    if frame.empty:
        raise ValueError("no cell is finished yet, so there is no table to write; run the command again and leave it more time")
    return frame


def one_input(tensors: int) -> None:
    """Refuse the attributions of a model of several inputs."""
    if tensors != 1:
        raise ValueError(f"a tuple of {tensors} tensors, one for each input of a model, was given; give that of one input")


def share_of_one(**numbers: float) -> None:
    """Refuse settings that do not lie between 0 and 1."""
    for name, value in numbers.items():
        if not 0 < value < 1:
            raise ValueError(f"{name}={value!r}, but a number between 0 and 1 is needed")


def require_parquet() -> None:
    """Refuse to write Parquet without the library that does."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as missing:
        raise ImportError(
            "writing Parquet needs pyarrow, which is not installed; run: pip install 'lexplain[parquet]', or write .csv"
        ) from missing


def keep_or_penalty(keep: object, penalty: object, count: int) -> None:
    """Refuse a size that cannot be kept, or two ways of saying it."""
    if keep is not None and penalty is not None:
        raise ValueError(
            f"both keep={keep} and penalty={penalty} were given; give keep (how much to show) or penalty (its price), not both"
        )
    if penalty is not None and not (isinstance(penalty, (int, float, np.integer, np.floating)) and math.isfinite(penalty) and penalty >= 0):
        raise ValueError(f"penalty={penalty!r}, but a finite number of at least 0 is needed (the price of keeping every feature)")
    if keep is None or (isinstance(keep, str) and keep == "auto"):
        return
    if isinstance(keep, bool) or not isinstance(keep, (int, float, np.integer, np.floating)):
        raise ValueError(f"keep={keep!r}, but a number of features (1 to {count - 1}), a rate between 0 and 1, or 'auto' is needed")
    if isinstance(keep, (int, np.integer)) and not 1 <= keep < count:
        raise ValueError(f"keep={keep}, but of {count} features 1 to {count - 1} can be kept; keeping all of them explains nothing")
    if isinstance(keep, (float, np.floating)) and not 0 < keep < 1:
        raise ValueError(f"keep={keep}, but a rate lies between 0 and 1; for a number of features give a whole number")


def kept_features(keep: object, count: int) -> int:
    """Return how many features a baseline keeps, half of them unless told; refuse what is no number of features."""
    if keep is None:
        return (count + 1) // 2
    if isinstance(keep, bool) or not isinstance(keep, (int, np.integer)) or not 1 <= keep <= count:
        raise ValueError(f"keep={keep!r}, but a baseline keeps a whole number of features, 1 to {count}")
    return int(keep)


def hard_mask(mask: Tensor) -> Tensor:
    """Return a mask as bool; refuse one that holds other values than 0 and 1."""
    if mask.dtype is not torch.bool and not ((mask == 0) | (mask == 1)).all():
        raise ValueError("a mask of 0 and 1 is needed, but this one holds other values; threshold it first, such as mask > 0.5")
    return mask.bool()


def mask_of_rows(mask: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a mask as bool, in the shape of the rows it belongs to; refuse one that has no such shape, or other values than 0 and 1."""
    try:
        return hard_mask(mask).expand(*shape)
    except RuntimeError:
        raise ValueError(f"the mask has shape {tuple(mask.shape)}, but these rows need {tuple(shape)}, 1 where they are visible") from None


def mask_against_truth(mask: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return a mask and the truth as bool; refuse them where rows or features differ."""
    if truth.ndim != 2 or mask.shape[-2:] != truth.shape:
        raise ValueError(
            f"values of shape {tuple(mask.shape)} do not fit a truth of shape {tuple(truth.shape)}; "
            "the truth must be (rows, features), and the values the same or (samples, rows, features)"
        )
    return hard_mask(mask), hard_mask(truth)


def same_features(got: int, needed: int) -> None:
    """Refuse to compare an explanation of other features than the data set's."""
    if got != needed:
        raise ValueError(f"the explanation has {got} features, but the data set's judge knows {needed}; give both the same features")
