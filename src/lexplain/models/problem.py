"""One door for rows: what everybody who fits, judges or compares is given."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..core import Batch
from ..core.contracts import Encoded, Features, Labels, Model, RawRows
from ..core.kinds import features_for
from .asked import CachedModel, network_reads
from .target import Target, from_labels, from_model, in_classes, same_length, target_array


class Targets(NamedTuple):
    """What rows are to be explained as, and the function that was asked."""

    label_target: Target | None = None  # what y says
    model_target: Target | None = None  # what the model says
    model: CachedModel | None = None  # the function that was asked

    @property
    def target(self) -> Target:
        """What is explained: the model's answer where there is one, else the labels."""
        target = self.model_target if self.model_target is not None else self.label_target
        assert target is not None  # whoever asks has given one of the two
        return target


@dataclass(frozen=True)
class Problem:
    """Rows, what they are to be explained as, and the function that is asked: checked and encoded once."""

    rows: RawRows  # as given
    features: Features  # fitted
    encoded: Encoded
    targets: Targets = field(default_factory=Targets)
    like: Targets | None = None  # of other rows, whose classes and units these share

    @classmethod
    def read(cls, X: RawRows, features: Features | None = None, like: Problem | None = None) -> Problem:
        """Check and encode rows, as `of` does; `asking` adds their targets."""
        unfitted = like.features if like is not None else features if features is not None else features_for(X)
        rows = unfitted.check(X)
        fitted, encoded = (unfitted, unfitted.encode(rows)) if unfitted.is_fitted else copy.deepcopy(unfitted).fit_encode(rows)
        return cls(X, fitted, encoded, like=None if like is None else like.targets)

    def asking(self, y: Labels, model: Model, max_rows: int | None = None) -> Problem:
        """The same rows with their labels and the answers of a model, as `of` reads them."""
        if y is not None:
            same_length(len(self), target_array(y))
        network_reads(model, self.features.as_network_input, self.encoded.x)
        return replace(self, targets=targets_of(self.rows, y, model, like=self.like, max_rows=max_rows))

    @classmethod
    def of(
        cls,
        X: RawRows,
        y: Labels = None,
        model: Model = None,
        features: Features | None = None,
        *,
        like: Problem | None = None,
        max_rows: int | None = None,
    ) -> Problem:
        """Check and encode rows, read their labels, and ask the model about them.

        Args:
            X: rows.
            y: labels, values or probabilities; None: there are none.
            model: a scikit-learn estimator, an `nn.Module`, or a function of rows; None: there is none.
            features: what can be on or off, fitted to the rows unless it is already; None: what suits the rows.
            like: a problem whose features, classes and units these rows share.
            max_rows: most rows that the model is asked about at a time; None: all.
        """
        return cls.read(X, features, like).asking(y, model, max_rows)

    def __len__(self) -> int:
        return len(self.encoded.x)

    @property
    def target(self) -> Target:
        """What is explained: the model's answer where there is one, else the labels."""
        return self.targets.target

    def batch(self, target: Target | None = None) -> Batch:
        """The encoded rows with what they are to be explained as."""
        wanted = self.target if target is None else target
        return Batch(self.encoded.x, wanted.outputs.target(wanted.values), valid=self.encoded.valid)


def targets_of(
    X: RawRows, y: Labels, model: Model, *, like: Targets | None = None, classes: np.ndarray | None = None, max_rows: int | None = None
) -> Targets:
    """Read the labels of raw rows and query a model, as `Problem.of` does; `classes` are all labels, where y may lack some."""
    labels = None if y is None else _labels(y, None if like is None else like.label_target, classes)
    answer, asked = (None, None) if model is None else from_model(model, X, max_rows=max_rows)
    if like is not None and answer is not None and like.model_target is not None:
        answer = answer.in_units_of(like.model_target)
    return Targets(labels, answer, asked)


def _labels(y: Labels, known: Target | None, classes: np.ndarray | None) -> Target:
    """Labels, in the classes and the units of others where these are known."""
    named = classes if known is None else known.classes
    if named is None or not _of_one_type(target_array(y), named):
        found = from_labels(y)
    else:
        found = from_labels(in_classes(y, named))
        found = replace(found, classes=named) if found.outputs.count == len(named) else found
    return found if known is None else found.in_units_of(known)


def _of_one_type(values: np.ndarray, classes: np.ndarray) -> bool:
    """Whether labels can be read in some classes: probabilities can, and numbers where the classes are numbers."""
    return values.ndim == 2 or (values.dtype.kind in "biuf") == (np.asarray(classes).dtype.kind in "biuf")
