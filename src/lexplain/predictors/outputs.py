"""What a prediction looks like."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Normal


@dataclass(frozen=True)
class Outputs:
    """How many numbers a network returns, and the distribution they stand for.

    Classes are a Categorical; a real value is a Normal of scale 1 in the target's standardised units,
    so that one nat is worth about as much in both.
    """

    count: int  # classes, or 1 for a real value
    real: bool = False

    def from_network(self, output: Tensor) -> Distribution:
        """The distribution of logits (n, count), or of values (n, 1)."""
        output = output.to(torch.promote_types(output.dtype, torch.float32))  # a logarithm of half precision is coarse
        if self.real:
            mean = output.reshape(len(output))
            return Normal(mean, torch.ones_like(mean), validate_args=False)
        return Categorical(logits=output, validate_args=False)

    def from_probabilities(self, values: Tensor) -> Distribution:
        """The distribution of probabilities (n, count), or of values (n, 1)."""
        if self.real:
            return self.from_network(values)
        return Categorical(logits=values.clamp_min(torch.finfo(values.dtype).tiny).log(), validate_args=False)
