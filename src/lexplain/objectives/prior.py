"""A prior on the selector's scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from ..core import Batch

Scores = Callable[[Batch], Tensor]  # a batch to scores (b, d) of a prior explainer


@dataclass(frozen=True)
class PriorExplainer:
    """Start from the scores of another explainer, with a weight that decreases during training.

    Reference:
        Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, equations 12 and 13.
    """

    scores: Scores
    rounds: int = 20  # steps in which the weight of the prior decreases from 1/2 to 1/(rounds + 1)

    def weight(self, batch: Batch) -> float:
        """1 / (m + 1) in round m = 1, 2, ..."""
        return 1 / (2 + int(batch.progress * self.rounds))

    def merge(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mix the selector's log-shares with the prior's."""
        weight = self.weight(batch)
        prior: Tensor = self.scores(batch).detach()
        return (1 - weight) * logits.log_softmax(-1) + weight * prior.log_softmax(-1)

    def distance(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean absolute difference (b,) between the merged and the selector's own shares, times the weight."""
        merged = self.merge(logits, batch).softmax(-1).detach()
        return self.weight(batch) * (merged - logits.softmax(-1)).abs().mean(-1)
