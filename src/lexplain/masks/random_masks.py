"""Random masks that do not depend on the row, to train predictors and evaluators on all subsets of features."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import torch
from torch import Tensor


class FixedRate:
    """Each feature is visible with the same probability, by default one half (EVAL-X, REAL-X's predictor)."""

    def __init__(
        self, rows: int, count: int, *, rate: float = 0.5, valid: Tensor | None = None, device: torch.device | str | None = None
    ) -> None:
        self.size, self.rate, self.valid, self.device = (rows, count), rate, valid, device

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample hard masks (*shape, rows, count)."""
        mask = torch.rand(*shape, *self.size, device=self.device) < self.rate
        return mask if self.valid is None else mask & self.valid


class UniformRate:
    """Each row has a uniform random rate, so that all numbers of visible features are equally likely (Beta-binomial(1, 1))."""

    def __init__(self, rows: int, count: int, *, valid: Tensor | None = None, device: torch.device | str | None = None) -> None:
        self.size, self.valid, self.device = (rows, count), valid, device

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample hard masks (*shape, rows, count)."""
        rates = torch.rand(*shape, self.size[0], 1, device=self.device)
        mask = torch.rand(*shape, *self.size, device=self.device) < rates
        return mask if self.valid is None else mask & self.valid


class ShapleyKernel:
    """Sizes s have a probability proportional to 1 / (s (count - s)); subsets of one size are equally likely.

    Reference:
        Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, 2017, theorem 2; Jethani et al., FastSHAP, 2022.
    """

    def __init__(self, rows: int, count: int, *, valid: Tensor | None = None, device: torch.device | str | None = None) -> None:
        self.size, self.valid, self.device = (rows, count), valid, device

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample hard masks (*shape, rows, count), never empty and never full."""
        where = torch.ones(self.size, dtype=torch.bool, device=self.device) if self.valid is None else self.valid
        valid_count = where.sum(-1, keepdim=True)  # (rows, 1)
        sizes = torch.arange(1, max(2, self.size[1]), device=self.device)
        weights = torch.where(sizes < valid_count, 1 / (sizes * (valid_count - sizes).clamp_min(1)), 0.0)
        lone = valid_count <= 1  # one feature or none has no proper subset: use the empty one
        picked = torch.multinomial(torch.where(lone, 1.0, weights), max(1, prod(shape)), replacement=True)
        chosen = torch.where(lone, 0, sizes[picked]).movedim(-1, 0).reshape(*shape, self.size[0], 1)
        noise = torch.rand(*shape, *self.size, device=self.device).masked_fill(~where, 2.0)
        return noise.argsort(-1).argsort(-1) < chosen


RandomMasks = Callable[..., FixedRate | UniformRate | ShapleyKernel]
