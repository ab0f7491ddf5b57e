"""What each feature is worth beside the others."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.contracts import Cost, MaskDistribution


@dataclass(frozen=True)
class MarginalGains:
    """Measure how much cheaper a mask gets with each feature than without it, over masks drawn from a policy.

    A selector that regresses these gains cannot saturate, as one that descends a score function does: a feature's gain is
    measured whether or not the policy keeps it.

    Args:
        draws: masks a row.
        floor: least probability that a feature is on, and that it is off, so that no gain is measured in one company alone.
        temperature: of the policy; lower is closer to its mode.
        features_per_mask: most features tried with one mask; of more, each mask tries others.
    """

    draws: int = 16
    floor: float = 0.05
    temperature: float = 0.5
    features_per_mask: int = 32

    def policy(self, p: MaskDistribution) -> Tensor:
        """Probability (b, d) that a feature is on while gains are measured."""
        on = torch.sigmoid(p.logits / self.temperature)
        on = self.floor + (1 - 2 * self.floor) * on
        return on if p.valid is None else on * p.valid

    @torch.no_grad()
    def __call__(self, p: MaskDistribution, cost: Cost, *, among: Tensor | None = None) -> Tensor:
        """Gains (b, d), in the cost's unit.

        Args:
            p: mask distribution, the policy.
            cost: masks (M, L, b, d) to costs (M, b), whose draws are the same for each of the M.
            among: indices of the features to measure; None: all. The others' gains are 0.
        """
        policy = self.policy(p)
        rows, count = policy.shape
        among = torch.arange(count, device=policy.device) if among is None else among
        total, times = torch.zeros_like(policy), torch.zeros(count, device=policy.device)
        for features in self._turns(among):
            mask = torch.rand_like(policy) < policy
            flipped = mask.expand(1 + len(features), rows, count).clone()  # the mask itself, then with one feature turned over
            flipped[torch.arange(1, 1 + len(features), device=policy.device), :, features] = ~mask[:, features].T
            costs = cost(flipped[:, None])
            worth = costs[1:] - costs[:1]  # turning it over: off for a feature that is on
            total[:, features] += torch.where(mask[:, features].T, worth, -worth).T
            times[features] += 1
        gains = total / times.clamp_min(1)
        return gains if p.valid is None else gains * p.valid

    def _turns(self, among: Tensor) -> list[Tensor]:
        """Which of some features each mask tries: each as often as the others, give or take one."""
        count, tried = len(among), min(len(among), self.features_per_mask)
        needed = -(-self.draws * count // tried)
        orders = [among[torch.randperm(count, device=among.device)] for _ in range(-(-needed * tried // count) + 1)]
        if tried == count:
            return orders[:needed]
        queue = torch.cat(orders)
        return [torch.unique(queue[start : start + tried]) for start in range(0, needed * tried, tried)]

    @property
    def masks_per_call(self) -> int:
        """How many masks of a row one call of the cost holds at the most."""
        return 1 + self.features_per_mask
