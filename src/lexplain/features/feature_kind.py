"""Base class of all kinds of features, and encoded masks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..core.contracts import Encoded, Features, Names, RawRows
from ..core.rows import as_array


class FeatureKind(ABC):
    """Base class of `core.contracts.Features`, with defaults for rows (n, d) of one number per feature.

    A subclass defines `kind`, `names`, `shape`, `state` and the three methods below; `lexplain.register` adds its `Kind`.
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
        """Convert raw rows to encoded rows (b, *shape) and mark their valid features."""

    @abstractmethod
    def decode(self, x: Tensor) -> RawRows:
        """Convert encoded rows to raw rows."""

    def fit_encode(self, X: RawRows) -> tuple[FeatureKind, Encoded]:
        """Learn the encoding and encode the same rows."""
        fitted = self.fit(X)
        return fitted, fitted.encode(X)

    @property
    def is_fitted(self) -> bool:
        """Whether the object is fitted."""
        return bool(self.shape)

    @property
    def input_names(self) -> tuple[str, ...]:
        """One name per input."""
        return self.names

    @property
    def count(self) -> int:
        """Number of features."""
        return len(self.names)

    def check(self, X: RawRows) -> RawRows:
        """Return the rows in the form that explanations keep."""
        return X

    def decoder(self, *known_rows: RawRows) -> Callable[[Tensor], RawRows]:
        """`decode`: cells of known rows are decoded like any other."""
        return self.decode

    def compose(self, rows: RawRows, mask: Tensor, donors: RawRows) -> RawRows:
        """Rows with the encoded inputs of donor rows where a mask (n, d) is False, decoded."""
        own, valid, _ = self.encode(rows)
        return self.decode(torch.where(encoded_mask(self, mask, valid), own, self.encode(donors).x))

    def pack(self, rows: RawRows) -> dict[str, Tensor] | None:
        """None: rows of this kind are not stored."""
        return None

    def unpack(self, tensors: Mapping[str, Tensor]) -> RawRows:
        """Raise: rows of this kind are not stored."""
        raise TypeError(f"{type(self).__name__} features do not store raw rows.")

    def as_network_input(self, x: Tensor) -> Tensor:
        """Encoded rows, unchanged."""
        return x

    def as_model_input(self, X: RawRows, x: Tensor) -> RawRows:
        """Raw rows, unchanged."""
        return X

    def from_array(self, values: np.ndarray | Tensor) -> RawRows:
        """The array, unchanged."""
        return values

    def expand(self, mask: Tensor) -> Tensor:
        """Expand feature masks (..., d) to encoded masks (..., *shape)."""
        return mask

    def gather(self, values: Tensor) -> Tensor:
        """Sum values of encoded inputs (b, *shape) over those of each feature, to (b, d)."""
        return values

    def expand_scores(self, scores: Tensor) -> Tensor:
        """Scores of features (b, d) as scores of inputs."""
        return self.expand(scores)

    def cell_values(self, X: RawRows) -> Sequence[Sequence[object] | pd.Series[Any] | None]:
        """None for each feature: no values to show."""
        return [None] * self.count

    def row_names(self, X: RawRows) -> Names:
        """The same names for every row."""
        return self.names

    def neighbours(self) -> Tensor:
        """Pairs (d - 1, 2) of neighbouring features in a line."""
        return torch.stack([torch.arange(self.count - 1), torch.arange(1, self.count)], 1)

    def feature_truth(self, given: object, rows: int) -> Tensor:
        """The ground truth (rows, d) of the explained rows; raises if it belongs to other rows."""
        return truth_of(given, rows, self.count)


def truth_values(truth: object) -> Tensor:
    """Return a ground truth of any shape as bool."""
    return torch.as_tensor(as_array(truth)).bool()


def truth_of(truth: object, rows: int, count: int) -> Tensor:
    """Return the ground truth (rows, features) of the explained rows; raise if it belongs to other rows."""
    known = truth_values(truth)
    if known.shape != (rows, count):
        raise ValueError(
            f"The ground truth has shape {tuple(known.shape)}, but {rows} rows of {count} features are explained. "
            "Pass the ground truth of the explained rows."
        )
    return known


def encoded_mask(features: Features, mask: Tensor, valid: Tensor | None) -> Tensor:
    """Encoded masks (..., *shape) of feature masks (..., d). Padding counts as visible, so that it is not imputed."""
    if valid is None:
        return features.expand(mask)
    return features.expand(mask | ~valid if mask.dtype == torch.bool else torch.where(valid, mask, 1.0))
