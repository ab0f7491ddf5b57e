"""A network whose forward returns a distribution over masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from .. import check

MaskFamily = Callable[[Tensor, Tensor | None], Any]  # (logits, valid) to a mask distribution


class Selector(nn.Module):
    """Say which masks suit a row.

    Args:
        network: x (and a context, where there is one) to logits (b, d).
        family: (logits, valid) to a distribution over masks.
        offset: added to every logit; above 0 the training starts from masks that show most features, and prunes.
        spread: standard deviation that the scores of a row are brought to; None: they are left as they are. Scores that may grow drown
            the noise that masks are drawn with, and the gradient dies with it: a selector that can only choose keeps learning.
        level: with a spread, learn one number that is added to all scores, for masks whose size is not fixed.
    """

    offset: Tensor

    def __init__(
        self, network: nn.Module, family: MaskFamily, *, offset: float = 0.0, spread: float | None = None, level: bool = False
    ) -> None:
        super().__init__()
        check.positive(spread=spread)
        self.network, self.family, self.spread = network, family, spread
        self.level = nn.Parameter(torch.zeros(())) if level and spread is not None else None
        self.register_buffer("offset", torch.tensor(offset))  # moved after training so that a rate asked for is kept

    def logits(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """Scores (b, d) of each feature of rows (b, ...)."""
        scores: Tensor = self.network(x) if context is None else self.network(x, context)
        full = torch.promote_types(scores.dtype, torch.float32)
        scores = scores.to(full)  # noise of half precision has too few values to tell features apart
        if self.spread is None:
            return scores + self.offset
        added = self.offset if self.level is None else self.offset + self.level
        return torch.add(added, layer_norm(scores, scores.shape[1:]), alpha=self.spread)

    def forward(self, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> Any:
        """The distribution over masks of rows x (b, ...)."""
        return self.family(self.logits(x, context), valid)
