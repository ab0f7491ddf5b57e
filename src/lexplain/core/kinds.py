"""Kinds of input: one record for each of columns, image patches and kinds that users register."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from .contracts import Encoded, Features, Model, RawRows
from .dataset import Dataset
from .rows import MAX_ROWS


class MakeSelector(Protocol):
    """Make a network of encoded rows (n, *shape), and of the model's output (n, context) if context > 0, to scores (n, d)."""

    def __call__(self, features: Features, *, context: int, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
        """The network, with random weights."""


class MakePredictor(Protocol):
    """Make a network of encoded rows (n, *shape) to outputs (n, count); if sees_mask, the encoded mask is appended along axis 1."""

    def __call__(self, features: Features, count: int, *, sees_mask: bool, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
        """The network, with random weights."""


class MakeEnsemble(Protocol):
    """Make a network of several members, each trained on its own rows, whose outputs are averaged."""

    def __call__(self, features: Features, count: int, *, members: int) -> nn.Module:
        """The network, with random weights."""


@dataclass(frozen=True)
class Pace:
    """How many rows networks of a kind are trained on at a time, and how many fit into memory."""

    batch_size: int = 1000  # largest batch of an optimiser step
    warmup_steps: int = 0  # optimiser steps over which the learning rate rises
    max_numbers: int | None = None  # encoded numbers in one call: convolutions hold many numbers per pixel; None: no limit

    def max_rows(self, features: Features) -> int:
        """The default number of rows in one call of a network."""
        return MAX_ROWS if self.max_numbers is None else max(1, min(MAX_ROWS, self.max_numbers // prod(features.shape)))


@dataclass(frozen=True)
class Kind:
    """A kind of input. Its functions import what they need when they are called, so that registering a kind costs nothing.

    Args:
        name: The word in `Features.kind` and in saved files.
        suits: Whether raw rows are of this kind. Used when `features=` is not given; the last registered kinds are tried first.
        features: Makes unfitted features for rows that suit.
        restore: Makes features again from what `Features.state` returned.
        selector: Makes the network that selects features.
        predictor: Makes the network that predicts the target.
        imputer: Returns the class of the default imputer.
        method: Returns the recipe of the default method.
        regressor: Makes the network that predicts the gain of each feature. By default, the selector's network.
        ensemble: Makes a predictor of several members. By default, one network.
        pace: Batch size, warm-up and memory limit.
        flat: Whether encoded rows are flat vectors. Wide ones are screened.
        pictures: Returns how explanations are drawn, a `report.pictures.Pictures`. By default, bars of named features.
        lay_out: Takes scores of another tool and the explained rows. Returns fitted features, and the scores in the order of these
            features. If scores and rows do not fit, it returns None and the scores. By default, scores have one column per feature.
        as_model: Turns a network of encoded rows, its features and its target into a model of raw rows. By default, a function.
        encode_unchecked: Encodes rows on a device, and returns a check of their numbers that can run later.
        size_in_words: Describes the size of a data set. By default, its columns.
        text_columns: Names the columns of a file that hold text. By default, none.
    """

    name: str
    suits: Callable[[RawRows], bool]
    features: Callable[[], Features]
    restore: Callable[[Mapping[str, Any]], Features]
    selector: MakeSelector
    predictor: MakePredictor
    imputer: Callable[[], type[nn.Module]]
    method: Callable[[], object]  # a Recipe, which this folder cannot import
    regressor: MakeSelector | None = None
    ensemble: MakeEnsemble | None = None
    pace: Pace = field(default_factory=Pace)
    flat: bool = False
    pictures: Callable[[], object] | None = None
    lay_out: Callable[[np.ndarray, RawRows], tuple[Features | None, np.ndarray]] | None = None
    as_model: Callable[..., Model] | None = None
    encode_unchecked: Callable[[Features, RawRows, torch.device], tuple[Encoded, Callable[[], None]]] | None = None
    size_in_words: Callable[[Dataset, Features], dict[str, str]] | None = None
    text_columns: Callable[[Features], tuple[str, ...]] | None = None


_REGISTERED: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Add a kind of input; one with the same name is replaced.

    Call it at the top level of the module that defines your `Features`, so that the processes of `compare(workers=2)` know the kind.
    """
    _REGISTERED[kind.name] = kind
    return kind


def kinds() -> dict[str, Kind]:
    """All kinds by name: those of the library first, then registered ones."""
    ours: tuple[Kind, ...] = importlib.import_module("lexplain.kinds").OURS  # the one import that points up
    return {kind.name: kind for kind in ours} | _REGISTERED


def kind_of(of: Features | str, /) -> Kind:
    """The kind of some features, or of a name in a file."""
    name, known = of if isinstance(of, str) else of.kind, kinds()
    if name not in known:
        raise ValueError(f"Unknown kind of features {name!r}. Choose one of: {', '.join(known)}; or add yours with lexplain.register.")
    return known[name]


def features_for(X: RawRows) -> Features:
    """Unfitted features that suit raw rows; columns if no other kind does."""
    return next(kind for kind in reversed(kinds().values()) if kind.suits(X)).features()
