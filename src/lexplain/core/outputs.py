"""Types of predictions: classes, or one real value. Targets and predictions are `torch.distributions`: Categorical or Normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Normal

LEAST_PROBABILITY = 1e-6  # lower limit of a model's probabilities: a wrong prediction costs at most 14 nats per row, not 87


@dataclass(frozen=True)
class Classes:
    """One of several classes: a network returns the logits of a Categorical."""

    count: int
    real: ClassVar[bool] = False

    def from_network(self, output: Tensor) -> Categorical:
        """The distribution of logits (n, count)."""
        return Categorical(logits=_full_precision(output), validate_args=False)

    def from_probabilities(self, values: Tensor) -> Categorical:
        """The distribution of probabilities (n, count), with a lower limit of one in a million."""
        return Categorical(logits=values.clamp_min(LEAST_PROBABILITY).log(), validate_args=False)

    def target(self, values: Tensor) -> Distribution:
        """The distribution of known probabilities (n, count)."""
        return as_target(values, real=False)

    def means(self, predicted: Distribution) -> Tensor:
        """The probabilities (n, count) of a prediction."""
        assert isinstance(predicted, Categorical)
        return predicted.probs


@dataclass(frozen=True)
class RealValue:
    """One real value: a Normal of scale 1 in the target's standardised units, so that a nat means about as much as for classes."""

    count: ClassVar[int] = 1
    real: ClassVar[bool] = True

    def from_network(self, output: Tensor) -> Normal:
        """The distribution of values (n, 1)."""
        mean = _full_precision(output).reshape(len(output))
        return Normal(mean, torch.ones_like(mean), validate_args=False)

    def from_probabilities(self, values: Tensor) -> Normal:
        """The distribution of values (n, 1)."""
        return self.from_network(values)

    def target(self, values: Tensor) -> Distribution:
        """The distribution of known values (n,)."""
        return as_target(values, real=True)

    def means(self, predicted: Distribution) -> Tensor:
        """The values (n, 1) of a prediction."""
        return predicted.mean[:, None]


Outputs: TypeAlias = Classes | RealValue


def outputs_of(count: int, real: bool) -> Outputs:
    """Classes, or a real value."""
    return RealValue() if real else Classes(count)


def _full_precision(output: Tensor) -> Tensor:
    return output.to(torch.promote_types(output.dtype, torch.float32))  # logarithms in half precision are coarse


def as_target(values: Tensor, real: bool) -> Distribution:
    """Turn probabilities (b, c) into a Categorical, or real values (b,) into a Normal of scale 1 (standardised units)."""
    if real:
        return Normal(values, torch.ones_like(values), validate_args=False)
    return Categorical(probs=values, validate_args=False)


def target_values(target: Distribution) -> Tensor:
    """The tensor that was passed to `as_target`."""
    if isinstance(target, Normal):
        return target.loc
    if isinstance(target, Categorical):
        return target.probs
    raise TypeError(f"target must be a Categorical or a Normal distribution, got {type(target).__name__}.")


def rows_of(target: Distribution, rows: Tensor | slice) -> Distribution:
    """The target distribution of some of the rows."""
    return as_target(target_values(target)[rows], isinstance(target, Normal))


def reshape_batch(distribution: Distribution, shape: Sequence[int]) -> Distribution:
    """The same distribution with its batch in another shape."""
    if isinstance(distribution, Normal):
        return Normal(distribution.loc.reshape(shape), distribution.scale.reshape(shape), validate_args=False)
    assert isinstance(distribution, Categorical)
    return Categorical(logits=distribution.logits.reshape(*shape, -1), validate_args=False)
