"""A data set in parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .contracts import Features, RawRows


@dataclass(frozen=True)
class DataSplit:
    """One split of a data set."""

    x: RawRows  # (n, ...) float32 array, or a DataFrame where columns have types of their own
    y: np.ndarray  # (n,) labels or real values, or (n, c) probabilities
    truth: np.ndarray | None = None  # (n, d) of bool: the features that really decide
    probabilities: np.ndarray | None = None  # (n, c) what the best possible model would say

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True)
class Dataset:
    """Train, validation and test rows with their names and, where it is known, the truth."""

    name: str
    description: str
    train: DataSplit
    validation: DataSplit
    test: DataSplit
    names: tuple[str, ...]  # one a raw column
    features: Features | None = None  # Features to explain it with; None: one feature a column
    control_flow: int | None = None  # the feature that only decides which others matter

    def frame(self, part: DataSplit) -> pd.DataFrame:
        """The rows of a part as a DataFrame with the data set's names."""
        return part.x if isinstance(part.x, pd.DataFrame) else pd.DataFrame(part.x, columns=list(self.names))
