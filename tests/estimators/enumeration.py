"""Every mask."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from lexplain.core.contracts import Cost
from lexplain.masks import Bernoulli, TopK

MOST_FEATURES = 12


@dataclass(frozen=True)
class Enumeration:
    """Weigh the cost of all 2^d masks by their probabilities: exact, for a dozen features at the most.

    It has no use for groups: a cost that joins several masks would need every tuple of masks.
    """

    needs = "log_prob"
    needs_gradient = False
    samples: int = 1

    def __call__(self, p: Bernoulli | TopK, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """Return the expected cost itself, which is differentiable."""
        rows, count = p.logits.shape
        if count > MOST_FEATURES or group != 1:
            raise ValueError(f"{count} features in groups of {group} masks are too many to enumerate; choose Reinforce or Rebar instead")
        every = torch.tensor(list(product([False, True], repeat=count)), device=p.logits.device)  # (2^d, d)
        masks = every[:, None].expand(-1, rows, -1)  # (m, b, d)
        with torch.no_grad():
            costs = cost(masks[:, None])  # (m, b)
        loss: Tensor = (p.log_prob(masks).exp() * costs).sum(0).mean()
        return loss

    @property
    def masks_per_call(self) -> int:
        """How many masks of a row one call of the cost holds at the most."""
        return int(2**MOST_FEATURES)

    def masks(self, p: Bernoulli | TopK, shape: tuple[int, ...]) -> Tensor:
        """The kind of masks a predictor must learn to read: hard ones."""
        hard: Tensor = p.sample(shape)
        return hard
