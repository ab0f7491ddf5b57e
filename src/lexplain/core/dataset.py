"""Data sets with their splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .contracts import Features, RawRows


@dataclass(frozen=True)
class DataSplit:
    """One split of a data set."""

    x: RawRows  # (n, ...) float32 array, or a DataFrame if column types differ
    y: np.ndarray  # (n,) labels or real values, or (n, c) probabilities
    truth: np.ndarray | None = None  # (n, d) of bool: ground truth
    probabilities: np.ndarray | None = None  # (n, c) class probabilities of the best possible model

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True)
class Dataset:
    """Train, validation and test rows, column names and, if known, the ground truth."""

    name: str
    description: str
    train: DataSplit
    validation: DataSplit
    test: DataSplit
    names: tuple[str, ...]  # one per raw column
    features: Features | None = None  # default features; None: one feature per column
    control_flow: int | None = None  # feature that decides which other features matter

    def frame(self, part: DataSplit) -> pd.DataFrame:
        """The rows of a split as a DataFrame with the data set's column names."""
        return part.x if isinstance(part.x, pd.DataFrame) else pd.DataFrame(part.x, columns=list(self.names))
