"""Feature masks as masks of encoded inputs, padding included."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core.contracts import Features


def raw_mask(features: Features, mask: Tensor, valid: Tensor | None) -> Tensor:
    """Raw masks (..., *shape) of feature masks (..., d); padding counts as visible, for there is nothing to hide and nothing to fill."""
    if valid is None:
        return features.expand(mask)
    return features.expand(mask | ~valid if mask.dtype == torch.bool else torch.where(valid, mask, 1.0))
