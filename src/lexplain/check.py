"""Input checks that several folders share, and `require` for optional tools. Checks of one folder are where they are raised."""

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

FEWEST_ROWS = 20  # a tenth of fewer rows is too small for validation


def require(name: str, extra: str) -> ModuleType:
    """Import an optional tool, or raise an error that explains how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise ImportError(f"{name} is not installed. Run: pip install 'lexplain[{extra}]'") from missing


def one_of(name: str, choices: Sequence[str], what: str) -> str:
    """Return a name; raise if it is not one of the choices."""
    if name not in choices:
        raise ValueError(f"Unknown {what} {name!r}. Choose one of: {', '.join(sorted(choices))}.")
    return name


def readable(path: Path) -> Path:
    """Return a path; raise if no file exists there."""
    if not path.is_file():
        raise FileNotFoundError(f"File not found: {path}. Check the path.")
    return path


def enough_rows(rows: int) -> None:
    """Check that there are enough rows to split."""
    if rows < FEWEST_ROWS:
        raise ValueError(f"n_samples={rows} is too few: at least {FEWEST_ROWS} rows are needed, because some are held out for validation.")


def fitted(explainer: object) -> None:
    """Check that an explainer is fitted."""
    if not hasattr(explainer, "features_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {type(explainer).__name__} instance is not fitted yet. Call fit(X, y) or fit(X, model=...) first.")


def enough_features(count: int) -> None:
    """Check that there are at least two features."""
    if count < 2:
        raise ValueError(f"n_features={count}: with {count} feature(s) there is nothing to select. At least 2 are needed.")


def positive(**numbers: float | None) -> None:
    """Check that settings are positive numbers or None."""
    above_zero(**{name: value for name, value in numbers.items() if value is not None})


def above_zero(**numbers: Any) -> None:
    """Check that settings are positive numbers; None raises."""
    for name, value in numbers.items():
        if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be a positive number, got {value!r}.")


def counts(**numbers: int | None) -> None:
    """Check that settings are positive integers or None."""
    for name, value in numbers.items():
        if value is not None and not (isinstance(value, (int, np.integer)) and value > 0):
            raise ValueError(f"{name} must be a positive integer, got {value!r}.")


def ending(path: Path, endings: Sequence[str]) -> str:
    """Return the ending of a file name; raise if it is not one of the supported endings."""
    if path.suffix.lower() not in endings:
        raise ValueError(f"{path} ends in {path.suffix!r}, which is not supported. Choose one of: {', '.join(endings)}.")
    return path.suffix.lower()


def not_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table; raise if it has no rows."""
    if frame.empty:
        raise ValueError("No cell is finished yet, so there is nothing to write. Run the command again; it resumes.")
    return frame


def one_input(tensors: int) -> None:
    """Check that attributions belong to a model with one input."""
    if tensors != 1:
        raise ValueError(f"Got a tuple of {tensors} tensors, but only models with one input are supported. Pass one tensor.")


def share_of_one(**numbers: float) -> None:
    """Check that settings are between 0 and 1."""
    for name, value in numbers.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")


def require_parquet() -> None:
    """Check that pyarrow is installed."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as missing:
        raise ImportError(
            "Writing Parquet needs pyarrow, which is not installed. Run: pip install 'lexplain[parquet]', or write .csv."
        ) from missing


def keep_or_penalty(keep: object, penalty: object, count: int) -> None:
    """Check that keep or penalty is valid, and that only one of them is given."""
    if keep is not None and penalty is not None:
        raise ValueError(f"Pass either keep={keep} (how many features) or penalty={penalty} (cost of keeping all of them), not both.")
    if penalty is not None and not (isinstance(penalty, (int, float, np.integer, np.floating)) and math.isfinite(penalty) and penalty >= 0):
        raise ValueError(f"penalty must be a finite number of at least 0 (cost of keeping all features), got {penalty!r}.")
    if keep is None or (isinstance(keep, str) and keep == "auto"):
        return
    if isinstance(keep, bool) or not isinstance(keep, (int, float, np.integer, np.floating)):
        raise ValueError(f"keep must be an integer from 1 to {count - 1}, a rate between 0 and 1, or 'auto', got {keep!r}.")
    if isinstance(keep, (int, np.integer)) and not 1 <= keep < count:
        raise ValueError(f"keep={keep} is out of range: of {count} features, 1 to {count - 1} can be kept. Keeping all selects nothing.")
    if isinstance(keep, (float, np.floating)) and not 0 < keep < 1:
        raise ValueError(f"keep={keep} is not a rate between 0 and 1. For a number of features pass an integer.")


def kept_features(keep: object, count: int) -> int:
    """Return how many features a baseline keeps, by default half of them; raise if `keep` is not a number of features."""
    if keep is None:
        return (count + 1) // 2
    if isinstance(keep, bool) or not isinstance(keep, (int, np.integer)) or not 1 <= keep <= count:
        raise ValueError(f"keep must be an integer from 1 to {count} for a baseline, got {keep!r}.")
    return int(keep)


def hard_mask(mask: Tensor) -> Tensor:
    """Return a mask as bool; raise if it contains values other than 0 and 1."""
    if mask.dtype is not torch.bool and not ((mask == 0) | (mask == 1)).all():
        raise ValueError("The mask contains values other than 0 and 1. Threshold it first, such as mask > 0.5.")
    return mask.bool()


def mask_of_rows(mask: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a mask as bool, expanded to the shape of its rows; raise if the shape does not fit or a value is not 0 or 1."""
    try:
        return hard_mask(mask).expand(*shape)
    except RuntimeError:
        raise ValueError(
            f"The mask has shape {tuple(mask.shape)}, but these rows need {tuple(shape)}, with 1 for visible values."
        ) from None


def mask_against_truth(mask: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return a mask and the ground truth as bool; raise if their rows or features differ."""
    if truth.ndim != 2 or mask.shape[-2:] != truth.shape:
        raise ValueError(
            f"Values of shape {tuple(mask.shape)} do not fit a ground truth of shape {tuple(truth.shape)}. "
            "The ground truth must be (rows, features), and the values the same or (samples, rows, features)."
        )
    return hard_mask(mask), hard_mask(truth)


def same_features(got: int, needed: int) -> None:
    """Check that an explanation has the features that the evaluator was trained on."""
    if got != needed:
        raise ValueError(f"The explanation has {got} features, but the evaluator was trained on {needed}. Use the same features for both.")
