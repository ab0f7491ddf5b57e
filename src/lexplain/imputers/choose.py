"""How an imputer chooses one of several components for each row, and how many components rows can bear."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

FIT_ROWS = 20_000  # more rows change a mixture little and cost as much again
ROWS_EACH = 5  # to learn the spread of a component from


def choose(logits: Tensor) -> Tensor:
    """Draw an index (n,) from unnormalised log-probabilities (n, K)."""
    # The Gumbel trick: Categorical looks at the numbers that it is given, which vmap forbids.
    return (logits - torch.log(-torch.log(torch.rand_like(logits)))).argmax(1)


def seen_part(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (n, D) with 0 where they are hidden, and how far (n, D) each entry is visible."""
    on = mask.to(x.dtype).flatten(1)
    return torch.where(on > 0, x.flatten(1), 0.0), on  # where: what is hidden may be NaN


def some_rows(x: Tensor, most: int) -> np.ndarray:
    """At most so many rows, drawn at random, as a flat array (n, D) of doubles for scikit-learn."""
    flat = x.detach().flatten(1)
    if len(flat) > most:
        flat = flat[torch.randperm(len(flat))[:most].to(flat.device)]
    return flat.double().cpu().numpy()


def seed() -> int:
    """A seed for scikit-learn that torch's random state decides."""
    return int(torch.randint(2**31 - 1, ()))


def affordable(rows: np.ndarray, components: int, each: int = 1) -> int:
    """How many components rows can bear: there must be so many rows that differ for each, or its spread is that of nothing."""
    return max(1, min(components, len(np.unique(rows, axis=0)) // each))
