"""Targets and predictions as `torch.distributions`: classes are a Categorical, real values a Normal."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Normal


def as_target(values: Tensor, real: bool) -> Distribution:
    """Turn probabilities (b, c) into a Categorical, or real values (b,) into a Normal of scale 1 (standardised units)."""
    if real:
        return Normal(values, torch.ones_like(values), validate_args=False)
    return Categorical(probs=values, validate_args=False)


def target_values(target: Distribution) -> Tensor:
    """The tensor that `as_target` was given."""
    if isinstance(target, Normal):
        return target.loc
    if isinstance(target, Categorical):
        return target.probs
    raise TypeError(f"a target is a Categorical or a Normal distribution, not a {type(target).__name__}")


def rows_of(target: Distribution, rows: Tensor | slice) -> Distribution:
    """A target distribution of some rows only."""
    return as_target(target_values(target)[rows], isinstance(target, Normal))


def reshape_batch(distribution: Distribution, shape: Sequence[int]) -> Distribution:
    """The same distribution with its batch in another shape."""
    if isinstance(distribution, Normal):
        return Normal(distribution.loc.reshape(shape), distribution.scale.reshape(shape), validate_args=False)
    assert isinstance(distribution, Categorical)
    return Categorical(logits=distribution.logits.reshape(*shape, -1), validate_args=False)
