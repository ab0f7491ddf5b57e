"""The base of every kind of features, and masks of features as masks of encoded inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..core.contracts import Encoded, Features, Names, RawRows
from ..core.rows import as_array


class FeatureKind(ABC):
    """What `core.contracts.Features` promises, with defaults for rows (n, d) of one number a feature.

    A kind of your own has `kind`, `names`, `shape`, `state`, and the three methods below; `lexplain.register` adds its `Kind`.
    """

    kind: ClassVar[str]
    numeric: ClassVar[bool] = True

    if TYPE_CHECKING:  # a field, a property or a cached property of the kind

        @property
        def names(self) -> tuple[str, ...]: ...  # noqa: D102  as in the contract
        @property
        def shape(self) -> tuple[int, ...]: ...  # noqa: D102
        def state(self) -> dict[str, Any]: ...  # noqa: D102

    @abstractmethod
    def fit(self, X: RawRows) -> FeatureKind:
        """Learn the encoding from training rows."""

    @abstractmethod
    def encode(self, X: RawRows, device: torch.device | str = "cpu") -> Encoded:
        """Turn raw rows into the tensor (b, *shape) that masks act on, and say which features are there."""

    @abstractmethod
    def decode(self, x: Tensor) -> RawRows:
        """Turn encoded rows back into what a model reads."""

    def fit_encode(self, X: RawRows) -> tuple[FeatureKind, Encoded]:
        """Learn the encoding and encode the same rows."""
        fitted = self.fit(X)
        return fitted, fitted.encode(X)

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` made this object."""
        return bool(self.shape)

    @property
    def input_names(self) -> tuple[str, ...]:
        """One name a raw input."""
        return self.names

    @property
    def count(self) -> int:
        """How many features can be on or off."""
        return len(self.names)

    def check(self, X: RawRows) -> RawRows:
        """Return the rows in the form that explanations keep."""
        return X

    def as_network_input(self, x: Tensor) -> Tensor:
        """Encoded rows, which a torch network reads as they are."""
        return x

    def as_model_input(self, X: RawRows, x: Tensor) -> RawRows:
        """Raw rows as the model reads them."""
        return X

    def from_array(self, values: np.ndarray | Tensor) -> RawRows:
        """An array as it is."""
        return values

    def expand(self, mask: Tensor) -> Tensor:
        """Turn feature masks (..., d) into raw masks (..., *shape)."""
        return mask

    def gather(self, values: Tensor) -> Tensor:
        """Sum raw values (b, *shape) within each feature (b, d)."""
        return values

    def expand_scores(self, scores: Tensor) -> Tensor:
        """Turn scores of features (b, d) into scores of raw inputs."""
        return self.expand(scores)

    def cell_values(self, X: RawRows) -> Sequence[Sequence[object] | pd.Series[Any] | None]:
        """Nothing that could be shown beside a feature's name."""
        return [None] * self.count

    def row_names(self, X: RawRows) -> Names:
        """The same names for every row."""
        return self.names

    def neighbours(self) -> Tensor:
        """The pairs (d - 1, 2) of features in a line."""
        return torch.stack([torch.arange(self.count - 1), torch.arange(1, self.count)], 1)

    def feature_truth(self, given: object, rows: int) -> Tensor:
        """The truth (rows, d) of the rows explained; refuse that of others."""
        return truth_of(given, rows, self.count)


def truth_values(truth: object) -> Tensor:
    """Return the truth of whatever shape as bool."""
    return torch.as_tensor(as_array(truth)).bool()


def truth_of(truth: object, rows: int, count: int) -> Tensor:
    """Return the truth (rows, features) of the rows explained; refuse that of others."""
    known = truth_values(truth)
    if known.shape != (rows, count):
        raise ValueError(
            f"the truth has shape {tuple(known.shape)}, but {rows} rows of {count} features are explained; "
            "explain the rows that it is the truth of"
        )
    return known


def encoded_mask(features: Features, mask: Tensor, valid: Tensor | None) -> Tensor:
    """Raw masks (..., *shape) of feature masks (..., d); padding counts as visible, for there is nothing to hide and nothing to fill."""
    if valid is None:
        return features.expand(mask)
    return features.expand(mask | ~valid if mask.dtype == torch.bool else torch.where(valid, mask, 1.0))
