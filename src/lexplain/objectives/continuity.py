"""The price of ragged masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..core import Trial


@dataclass(frozen=True)
class Continuity:
    """Charge for each pair of neighbours of which one is kept and the other is not (total variation).

    Args:
        price: of each such pair.
        grid: shape of the features, such as (7, 7) for patches, or (3, 7, 7) for those of each channel, whose neighbours lie in the same
            channel; None for features in a line.

    Reference:
        Lei et al., Rationalizing Neural Predictions, 2016, equation 3.
    """

    price: float
    grid: Sequence[int] | None = None

    def __call__(self, trial: Trial) -> Tensor:
        """Cost (M, b) of masks (M, L, b, d)."""
        assert trial.mask is not None
        mask = trial.mask.to(trial.x.dtype)
        lead = mask.shape[:-1]
        grid = mask.reshape(*lead, *(self.grid or mask.shape[-1:]))
        valid = None if trial.valid is None else trial.valid.expand(mask.shape).reshape(grid.shape)
        breaks = torch.zeros(lead, dtype=mask.dtype, device=mask.device)
        for axis in range(max(len(lead), grid.ndim - 2), grid.ndim):
            change = grid.diff(dim=axis).abs()
            if valid is not None:
                n = valid.shape[axis]
                change = change * (valid.narrow(axis, 1, n - 1) & valid.narrow(axis, 0, n - 1))
            breaks = breaks + change.flatten(len(lead)).sum(-1)
        return self.price * breaks.mean(1)
