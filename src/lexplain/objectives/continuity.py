"""The price of ragged masks."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..core import Trial


@dataclass(frozen=True, eq=False)
class Continuity:
    """Charge for each pair of neighbours of which one is kept and the other is not (total variation).

    Args:
        price: of each such pair.
        neighbours: pairs (m, 2) of features that lie side by side, as `Features.neighbours` gives them; a pair with padding costs nothing.

    Reference:
        Lei et al., Rationalizing Neural Predictions, 2016, equation 3.
    """

    price: float
    neighbours: Tensor

    def __call__(self, trial: Trial) -> Tensor:
        """Cost (M, b) of masks (M, L, b, d)."""
        assert trial.mask is not None
        mask = trial.mask.to(trial.x.dtype)
        one, other = self.neighbours.to(mask.device).T
        breaks = (mask[..., one] - mask[..., other]).abs()  # (M, L, b, m)
        if trial.valid is not None:
            breaks = breaks * (trial.valid[..., one] & trial.valid[..., other])
        return self.price * breaks.sum(-1).mean(1)
