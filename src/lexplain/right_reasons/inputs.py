"""How rows reach the network: as they are, or encoded by features; and how its gradients become scores."""

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
    """Rows of numbers that the network reads as they are: every number is an input."""

    shape: tuple[int, ...]
    names: tuple[str, ...]
    features: None = None

    @property
    def count(self) -> int:
        """The length of the first axis."""
        return self.shape[0]

    @classmethod
    def of(cls, X: RawRows, x: np.ndarray) -> PlainInputs:
        """Take shape and names from training rows."""
        columns = X.columns if isinstance(X, pd.DataFrame) else None
        return cls(x.shape[1:], tuple(map(_place, np.ndindex(*x.shape[1:]))) if columns is None else tuple(map(str, columns)))

    def read(self, X: RawRows) -> tuple[RawRows, Encoded]:
        """Rows as float32; refuse those of another shape than the fit's."""
        x = as_inputs(X)
        if x.shape[1:] != self.shape:
            raise ValueError(f"inputs have shape {x.shape[1:]}, but those of the fit had {self.shape}; give inputs of that shape")
        return X if isinstance(X, pd.DataFrame) else as_array(X), Encoded(torch.from_numpy(x))

    def row_names(self, rows: RawRows) -> Names:
        """The names of the fit."""
        return self.names

    def marks(self, annotation: object, encoded: Encoded, annotated_rows: object) -> Tensor:
        """One mark an input; see `mask_of_rows`."""
        return torch.from_numpy(expand_annotation(annotation, encoded.x.shape, annotated_rows).copy())

    def scores(self, slopes: Tensor) -> Tensor:
        """The size of each slope."""
        return slopes.abs().flatten(1)

    def state(self) -> Json:
        """Shape and names."""
        return {"shape": list(self.shape), "names": list(self.names)}


@dataclass(frozen=True)
class FeatureInputs:
    """Rows that fitted features encode: what is marked and explained is a feature."""

    features: Features

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one encoded row."""
        return self.features.shape

    @property
    def names(self) -> tuple[str, ...]:
        """One name a feature."""
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
        """One mark an encoded input, from one mark a feature or from one an encoded input; padding is never marked."""
        given, rows, shape = np.shape(as_array(annotation)), len(encoded.x), self.features.shape
        of_inputs = given[-len(shape) :] == shape and shape != (self.features.count,)
        needed = shape if of_inputs else (self.features.count,)
        marks = torch.from_numpy(expand_annotation(annotation, (rows, *needed), annotated_rows).copy())
        marks = marks if of_inputs else self.features.expand(marks)
        return marks if encoded.valid is None else marks & self.features.expand(encoded.valid)

    def scores(self, slopes: Tensor) -> Tensor:
        """The length of each feature's slopes."""
        return self.features.gather(slopes.square()).sqrt()

    def state(self) -> Json:
        """The kind of the features and what they learned."""
        return {"kind": self.features.kind, "state": self.features.state()}


Inputs = PlainInputs | FeatureInputs


def read_training_rows(X: RawRows, y: Labels, features: Features | None, *, plain: bool) -> tuple[Inputs, Encoded, Target]:
    """Read the rows of a fit: how later rows are read, the rows as the network reads them, and their target.

    Args:
        X: rows.
        y: labels, values or probabilities.
        features: what is explained; None: what suits the rows, unless they are plain.
        plain: whether the network reads the rows as they are.
    """
    if plain:
        x, target = as_inputs(X), from_labels(y)
        same_length(len(x), target.values)
        return PlainInputs.of(X, x), Encoded(torch.from_numpy(x)), target
    problem = Problem.of(X, y, features=features)
    if not problem.features.numeric:
        raise TypeError(
            f"features of kind {problem.features.kind!r} are encoded as ids, which have no gradients; "
            "pass embedded rows (n, tokens, dimensions) and a network that reads them, without features="
        )
    return FeatureInputs(problem.features), problem.encoded, problem.target


def as_inputs(X: RawRows) -> np.ndarray:
    """Return inputs of any shape (n, ...) as float32; refuse what is not a finite number."""
    if isinstance(X, pd.DataFrame) or np.ndim(X) == 2:
        return finite_numbers(X).astype(np.float32)
    values = np.require(as_array(X), np.float32, "W")  # torch warns of arrays that may not be written to
    if values.ndim < 2 or 0 in values.shape:
        raise ValueError(f"X has shape {values.shape}, but (rows, ...) with at least one row and one input is needed")
    if not np.isfinite(values).all():
        raise ValueError("Input X contains NaN or infinity; impute or drop such rows")
    return values


def restored(state: Json) -> Inputs:
    """The inputs whose `state` was written to a file."""
    if "kind" in state:
        return FeatureInputs(kind_of(state["kind"]).restore(state["state"]))
    return PlainInputs(tuple(state["shape"]), tuple(state["names"]))


def _place(index: tuple[int, ...]) -> str:
    return f"x{index[0] + 1}" if len(index) == 1 else f"x[{','.join(map(str, index))}]"
