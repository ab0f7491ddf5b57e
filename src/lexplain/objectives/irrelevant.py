"""The price of showing what people say must not be used."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core import Trial


@dataclass(frozen=True)
class Irrelevant:
    """Charge for the marked features that the selector expects to keep: right for the right reasons, on selections instead of slopes.

    Rows without marks cost nothing. The annotation travels with the rows, as `Trial.irrelevant` (b, d).

    Args:
        price: of keeping all the marked features of a row, in nats.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, equation 1, with the mean of the mask in place of the slopes.
    """

    price: float

    def __call__(self, trial: Trial) -> Tensor:
        """Cost (b,)."""
        assert trial.p is not None
        mean = trial.p.mean
        if trial.irrelevant is None:
            return torch.zeros_like(mean[:, 0])
        marks = (trial.irrelevant if trial.valid is None else trial.irrelevant & trial.valid).to(mean.dtype)
        return self.price * (marks * mean).sum(-1) / marks.sum(-1).clamp_min(1)
