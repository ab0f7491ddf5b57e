"""Gains of features given the others."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.contracts import Cost, MaskDistribution


@dataclass(frozen=True)
class MarginalGains:
    """Average decrease of the cost of a mask through each feature, over masks sampled from a policy.

    A selector that regresses these gains cannot saturate, unlike one trained with a score function: the gain of a feature is
    measured whether or not the policy keeps it.

    Args:
        draws: Masks per row.
        floor: Lower limit of the probability that a feature is visible, and that it is hidden, so that gains are averaged over many masks.
        temperature: Temperature of the policy; lower is closer to its mode.
        features_per_mask: Maximum number of features tried with one mask; if there are more, masks try different ones.
    """

    draws: int = 16
    floor: float = 0.05
    temperature: float = 0.5
    features_per_mask: int = 32

    def policy(self, p: MaskDistribution) -> Tensor:
        """Probability (b, d) that a feature is visible while gains are measured."""
        on = torch.sigmoid(p.logits / self.temperature)
        on = self.floor + (1 - 2 * self.floor) * on
        return on if p.valid is None else on * p.valid

    @torch.no_grad()
    def __call__(self, p: MaskDistribution, cost: Cost, *, among: Tensor | None = None) -> Tensor:
        """Gains (b, d), in the cost's unit.

        Args:
            p: Mask distribution of the policy.
            cost: Function from masks (M, L, b, d) to costs (M, b), with the same random numbers for each of the M.
            among: Indices of the features to measure; None: all. The gains of the others are 0.
        """
        policy = self.policy(p)
        rows, count = policy.shape
        among = torch.arange(count, device=policy.device) if among is None else among
        total, times = torch.zeros_like(policy), torch.zeros(count, device=policy.device)
        for features in self._turns(among):
            mask = torch.rand_like(policy) < policy
            flipped = mask.expand(1 + len(features), rows, count).clone()  # the mask itself, then with one feature flipped
            flipped[torch.arange(1, 1 + len(features), device=policy.device), :, features] = ~mask[:, features].T
            costs = cost(flipped[:, None])
            change = costs[1:] - costs[:1]  # positive if hiding a visible feature costs more
            total[:, features] += torch.where(mask[:, features].T, change, -change).T
            times[features] += 1
        gains = total / times.clamp_min(1)
        return gains if p.valid is None else gains * p.valid

    def _turns(self, among: Tensor) -> list[Tensor]:
        """The features that each mask tries; the counts of features differ by at most one."""
        count, tried = len(among), min(len(among), self.features_per_mask)
        needed = -(-self.draws * count // tried)
        orders = [among[torch.randperm(count, device=among.device)] for _ in range(-(-needed * tried // count) + 1)]
        if tried == count:
            return orders[:needed]
        queue = torch.cat(orders)
        return [torch.unique(queue[start : start + tried]) for start in range(0, needed * tried, tried)]

    @property
    def masks_per_call(self) -> int:
        """Maximum number of masks per row in one call of the cost."""
        return 1 + self.features_per_mask
