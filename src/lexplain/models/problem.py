"""Checked and encoded rows with their targets, for fits, evaluations and comparisons."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..core import Batch
from ..core.contracts import Encoded, Features, Labels, Model, RawRows
from ..core.kinds import features_for
from .queried import QueriedModel, as_queried, network_reads
from .target import Target, from_labels, from_model, in_classes, same_length, target_array


class Targets(NamedTuple):
    """The targets of rows, and the queried function."""

    label_target: Target | None = None  # from y
    model_target: Target | None = None  # from the model's outputs
    model: QueriedModel | None = None  # the queried function

    @property
    def target(self) -> Target:
        """The explained target: the model's output if there is a model, otherwise the labels."""
        target = self.model_target if self.model_target is not None else self.label_target
        assert target is not None  # callers pass y or a model
        return target


@dataclass(frozen=True)
class Problem:
    """Rows, their targets, and the queried function: checked and encoded once."""

    rows: RawRows  # as passed in
    features: Features  # fitted
    encoded: Encoded
    targets: Targets = field(default_factory=Targets)
    like: Targets | None = None  # targets of other rows; their classes and units are used

    @classmethod
    def read(cls, X: RawRows, features: Features | None = None, like: Problem | None = None) -> Problem:
        """Check and encode rows, as `of` does; `asking` adds their targets."""
        unfitted = like.features if like is not None else features if features is not None else features_for(X)
        rows = unfitted.check(X)
        fitted, encoded = (unfitted, unfitted.encode(rows)) if unfitted.is_fitted else copy.deepcopy(unfitted).fit_encode(rows)
        return cls(X, fitted, encoded, like=None if like is None else like.targets)

    def asking(self, y: Labels, model: Model) -> Problem:
        """The same rows with their labels and the outputs of a model, as in `of`."""
        if y is not None:
            same_length(len(self), target_array(y))
        queried = None if model is None else as_queried(model)
        if queried is not None:
            network_reads(queried, self.features.as_network_input, self.encoded.x)
        return replace(self, targets=targets_of(self.rows, y, queried, like=self.like))

    @classmethod
    def of(
        cls, X: RawRows, y: Labels = None, model: Model = None, features: Features | None = None, *, like: Problem | None = None
    ) -> Problem:
        """Check and encode rows, read their labels, and query the model.

        Args:
            X: Raw rows.
            y: Labels, values or probabilities, if there are any.
            model: Model to query: a scikit-learn estimator, an `nn.Module`, a function of rows, or a `QueriedModel` of one of them.
            features: What a mask can keep or hide; fitted to the rows if it is not fitted. None: chosen by the kind of rows.
            like: Problem whose features, classes and units are used.
        """
        return cls.read(X, features, like).asking(y, model)

    def __len__(self) -> int:
        return len(self.encoded.x)

    @property
    def target(self) -> Target:
        """The explained target: the model's output if there is a model, otherwise the labels."""
        return self.targets.target

    def batch(self, target: Target | None = None) -> Batch:
        """The encoded rows with a target, by default the explained one."""
        explained = self.target if target is None else target
        return Batch(self.encoded.x, explained.outputs.target(explained.values), valid=self.encoded.valid)


def targets_of(X: RawRows, y: Labels, model: Model, *, like: Targets | None = None, classes: np.ndarray | None = None) -> Targets:
    """Read the labels of raw rows and query a model, as `Problem.of` does; `classes` are all labels, if y may lack some."""
    labels = None if y is None else _labels(y, None if like is None else like.label_target, classes)
    outputs, queried = (None, None) if model is None else from_model(model, X)
    if like is not None and outputs is not None and like.model_target is not None:
        outputs = outputs.in_units_of(like.model_target)
    return Targets(labels, outputs, queried)


def _labels(y: Labels, known: Target | None, classes: np.ndarray | None) -> Target:
    """The target of labels, in the classes and units of a known target if there is one."""
    named = classes if known is None else known.classes
    if named is None or not _of_one_type(target_array(y), named):
        result = from_labels(y)
    else:
        result = from_labels(in_classes(y, named))
        result = replace(result, classes=named) if result.outputs.count == len(named) else result
    return result if known is None else result.in_units_of(known)


def _of_one_type(values: np.ndarray, classes: np.ndarray) -> bool:
    """Whether values can be read as labels of some classes: probabilities always, numbers if the classes are numbers."""
    return values.ndim == 2 or (values.dtype.kind in "biuf") == (np.asarray(classes).dtype.kind in "biuf")
