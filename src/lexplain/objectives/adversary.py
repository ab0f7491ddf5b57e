"""What the hidden features must not tell."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Normal

from ..core import as_target


def opposite(target: Distribution) -> Distribution:
    """What an adversary who knows nothing should say: the flipped probabilities, or the mean of all real values.

    For c classes 1 - y sums to c - 1, so it is divided by that.

    Reference:
        Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 3.3.
    """
    if isinstance(target, Categorical):
        return as_target((1 - target.probs) / (target.probs.shape[-1] - 1), real=False)
    assert isinstance(target, Normal)
    return as_target(torch.zeros_like(target.loc), real=True)


def complement(mask: Tensor) -> Tensor:
    """Show what is hidden and hide what is shown."""
    return ~mask if mask.dtype == torch.bool else 1 - mask
