"""The mask distribution of L2X."""

from __future__ import annotations

import torch
from torch import Tensor

from .noise import gumbel
from .top_k import OFF, ShowsK, among_valid, chance_of_a_win


class ConcreteMax(ShowsK):
    """Elementwise maximum of k relaxed one-hot samples: soft, with at most k ones.

    Hard masks have no tractable log-probability, so `draw`, `log_prob` and `coupled` are missing. In padded rows with at most k valid
    features all of these are visible; in other rows, fewer than k features may be.

    Reference:
        Chen et al., Learning to Explain, 2018, section 3.3.
    """

    def __init__(self, logits: Tensor, k: int, valid: Tensor | None = None, *, temperature: float = 0.5) -> None:
        self.logits = logits if valid is None else logits.masked_fill(~valid, OFF)
        self.k, self.valid, self.temperature = k, valid, temperature

    def relaxed(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample soft masks (*shape, b, d) in (0, 1) that carry gradients to the logits."""
        noisy = self.logits + gumbel(self.logits.detach(), (self.k, *shape))
        return among_valid((noisy / self.temperature).softmax(-1).amax(0), self.k, self.valid)

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample hard masks: the features sampled in at least one of k draws, so at most k."""
        noisy = self.logits.detach() + gumbel(self.logits.detach(), (self.k, *shape))
        winners = torch.zeros_like(noisy, dtype=torch.bool).scatter_(-1, noisy.argmax(-1, keepdim=True), True)
        return among_valid(winners.any(0), self.k, self.valid)

    @property
    def mean(self) -> Tensor:
        """Probability (b, d) of being sampled in at least one of the k draws."""
        return among_valid(chance_of_a_win(self.logits, self.k), self.k, self.valid)
