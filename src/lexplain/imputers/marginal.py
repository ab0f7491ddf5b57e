"""Another row."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .fill import fill


class Marginal(nn.Module):
    """Put another row's values wherever a feature is off, a fresh row each call."""

    background: Tensor

    def __init__(self, background: Tensor) -> None:
        super().__init__()
        self.register_buffer("background", background.clone())

    @classmethod
    def fit(cls, x: Tensor) -> Marginal:
        """Keep training rows to draw from."""
        return cls(x)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Fill x (n, ...) where mask (n, ...) is off."""
        rows = torch.randint(len(self.background), (len(x),), device=x.device)
        return fill(x, mask, self.background[rows])
