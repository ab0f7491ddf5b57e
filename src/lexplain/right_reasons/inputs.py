"""Inputs of the network: rows unchanged or encoded by features; conversion of input gradients to scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..core.contracts import Encoded, Features, Json, Labels, Names, RawRows
from ..core.kinds import kind_of
from ..core.rows import as_array
from ..features.tables import finite_numbers
from ..models import Problem, Target, from_labels
from ..models.target import same_length
from .annotation import expand_annotation


@dataclass(frozen=True)
class PlainInputs:
    """Rows of numbers that the network reads unchanged: each number is an input."""

    shape: tuple[int, ...]
    names: tuple[str, ...]
    features: None = None

    @property
    def count(self) -> int:
        """The length of an input's first axis."""
        return self.shape[0]

    @classmethod
    def of(cls, X: RawRows, x: np.ndarray) -> PlainInputs:
        """Inputs with the shape and names of training rows."""
        columns = X.columns if isinstance(X, pd.DataFrame) else None
        return cls(x.shape[1:], tuple(map(_default_name, np.ndindex(*x.shape[1:]))) if columns is None else tuple(map(str, columns)))

    def read(self, X: RawRows) -> tuple[RawRows, Encoded]:
        """Rows as float32. Raises if their shape differs from that of the fit."""
        x = as_inputs(X)
        if x.shape[1:] != self.shape:
            raise ValueError(f"Inputs have shape {x.shape[1:]}, but those of the fit had {self.shape}. Pass inputs of that shape.")
        return X if isinstance(X, pd.DataFrame) else as_array(X), Encoded(torch.from_numpy(x))

    def row_names(self, rows: RawRows) -> Names:
        """The input names of the fit."""
        return self.names

    def marks(self, annotation: object, encoded: Encoded, annotated_rows: object) -> Tensor:
        """One mark per input; see `expand_annotation`."""
        return torch.from_numpy(expand_annotation(annotation, encoded.x.shape, annotated_rows).copy())

    def scores(self, gradients: Tensor) -> Tensor:
        """Absolute value of each input gradient."""
        return gradients.abs().flatten(1)

    def state(self) -> Json:
        """Shape and names, as JSON values."""
        return {"shape": list(self.shape), "names": list(self.names)}


@dataclass(frozen=True)
class FeatureInputs:
    """Rows that are encoded by fitted features, which are marked and explained."""

    features: Features

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one encoded row."""
        return self.features.shape

    @property
    def names(self) -> tuple[str, ...]:
        """One name per feature."""
        return self.features.names

    @property
    def count(self) -> int:
        """The number of raw inputs."""
        return len(self.features.input_names)

    def read(self, X: RawRows) -> tuple[RawRows, Encoded]:
        """Rows, checked and encoded."""
        rows = self.features.check(X)
        return rows, self.features.encode(rows)

    def row_names(self, rows: RawRows) -> Names:
        """The names of the features of these rows."""
        return self.features.row_names(rows)

    def marks(self, annotation: object, encoded: Encoded, annotated_rows: object) -> Tensor:
        """One mark per encoded input, from one per feature or per encoded input. Padding is never marked."""
        size, rows, shape = np.shape(as_array(annotation)), len(encoded.x), self.features.shape
        of_inputs = size[-len(shape) :] == shape and shape != (self.features.count,)
        needed = shape if of_inputs else (self.features.count,)
        marks = torch.from_numpy(expand_annotation(annotation, (rows, *needed), annotated_rows).copy())
        marks = marks if of_inputs else self.features.expand(marks)
        return marks if encoded.valid is None else marks & self.features.expand(encoded.valid)

    def scores(self, gradients: Tensor) -> Tensor:
        """Norm of the input gradients of each feature."""
        return self.features.gather(gradients.square()).sqrt()

    def state(self) -> Json:
        """Kind and fitted state of the features, as JSON values."""
        return {"kind": self.features.kind, "state": self.features.state()}


Inputs = PlainInputs | FeatureInputs


def read_training_rows(X: RawRows, y: Labels, features: Features | None, *, plain: bool) -> tuple[Inputs, Encoded, Target]:
    """Read the rows of a fit. Returns an object that reads later rows, the encoded rows, and their target.

    Args:
        X: Raw rows.
        y: Labels, values or probabilities.
        features: Features to explain. None: default features, unless the rows are plain.
        plain: Whether the network reads the rows unchanged.
    """
    if plain:
        x, target = as_inputs(X), from_labels(y)
        same_length(len(x), target.values)
        return PlainInputs.of(X, x), Encoded(torch.from_numpy(x)), target
    problem = Problem.of(X, y, features=features)
    if not problem.features.numeric:
        raise TypeError(
            f"Features of kind {problem.features.kind!r} are encoded as ids, which have no gradients. "
            "Pass embedded rows (n, tokens, dimensions) and a network that reads them, without features=."
        )
    return FeatureInputs(problem.features), problem.encoded, problem.target


def as_inputs(X: RawRows) -> np.ndarray:
    """Inputs of any shape (n, ...) as float32. Raises if a value is not finite."""
    if isinstance(X, pd.DataFrame) or np.ndim(X) == 2:
        return finite_numbers(X).astype(np.float32)
    values = np.require(as_array(X), np.float32, "W")  # torch warns if an array is read-only
    if values.ndim < 2 or 0 in values.shape:
        raise ValueError(f"X has shape {values.shape}, expected (rows, ...) with at least one row and one input.")
    if not np.isfinite(values).all():
        raise ValueError("Input X contains NaN or infinity. Impute the missing values, or drop such rows.")
    return values


def restored(state: Json) -> Inputs:
    """The inputs with a `state` that was written to a file."""
    if "kind" in state:
        return FeatureInputs(kind_of(state["kind"]).restore(state["state"]))
    return PlainInputs(tuple(state["shape"]), tuple(state["names"]))


def _default_name(index: tuple[int, ...]) -> str:
    return f"x{index[0] + 1}" if len(index) == 1 else f"x[{','.join(map(str, index))}]"
