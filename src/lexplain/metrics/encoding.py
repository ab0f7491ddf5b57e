"""What the choice of a mask tells beyond the values it shows."""

from __future__ import annotations

from torch import Tensor

from .metric import metric


@metric(
    label="Encoding",
    higher_is_better=False,
    description="nats that the choice of the mask tells about y beyond the values it shows; 0 is honest",
)
def encoding(told: Tensor, untold: Tensor) -> Tensor:
    """How much better (b,) a reader who knows the mask was chosen for this row predicts y than one who does not, from log-likelihoods."""
    return (told - untold).double()
