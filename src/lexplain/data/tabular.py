"""Real tables, which come with scikit-learn: no download, and no known truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lexplain.core import Dataset, Part


@dataclass(frozen=True)
class Table:
    """A table of real measurements: call it to split its rows 60 : 15 : 25, with the classes in proportion.

    Args:
        read: Returns a scikit-learn bunch with `data`, `target` and `feature_names`.
    """

    name: str
    description: str
    columns: int
    read: Callable[[], Any]
    control_flow: None = None
    truth_sizes: tuple[int, ...] = ()  # nobody knows which features really decide

    def __call__(self, *, seed: int = 0) -> Dataset:
        """Split the rows; the same seed gives the same split."""
        table = self.read()
        y = np.asarray(table.target, dtype=np.int64)
        seen, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
        train, validation = train_test_split(seen, test_size=0.2, stratify=y[seen], random_state=seed)
        x = np.asarray(table.data, dtype=np.float32)
        parts = [Part(x[rows], y[rows]) for rows in (train, validation, test)]
        return Dataset(self.name, self.description, parts[0], parts[1], parts[2], tuple(str(name) for name in table.feature_names))


breast_cancer = Table(
    "breast_cancer",
    "Thirty measurements of cell nuclei tell malignant tumours (class 0) from benign ones (class 1).",
    30,
    load_breast_cancer,
)
"""The Wisconsin diagnostic table, 569 tumours.

Reference:
    Street, Wolberg and Mangasarian, "Nuclear Feature Extraction for Breast Tumor Diagnosis", 1993; the copy in scikit-learn.
"""
