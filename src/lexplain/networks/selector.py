"""A network whose forward returns a distribution over masks."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from .. import check
from ..core.contracts import MaskDistribution, MaskFamily


class Selector(nn.Module):
    """Say which masks suit a row.

    Args:
        network: x (and a context, where there is one) to logits (b, d).
        family: (logits, valid) to a distribution over masks.
        offset: added to every logit; above 0 the training starts from masks that show most features, and prunes.
        spread: standard deviation that the scores of a row are brought to; None: they are left as they are. Scores that may grow drown
            the noise that masks are drawn with, and the gradient dies with it: a selector that can only choose keeps learning.
        level: with a spread, learn one number that is added to all scores, for masks whose size is not fixed.
        reads_output: the network takes the model's output beside the row.
    """

    offset: Tensor

    def __init__(
        self,
        network: nn.Module,
        family: MaskFamily,
        *,
        offset: float = 0.0,
        spread: float | None = None,
        level: bool = False,
        reads_output: bool = False,
    ) -> None:
        super().__init__()
        check.positive(spread=spread)
        self.network, self.family, self.spread, self.reads_output = network, family, spread, reads_output
        self.level = nn.Parameter(torch.zeros(())) if level and spread is not None else None
        self.register_buffer("offset", torch.tensor(offset))  # moved after training so that a rate asked for is kept

    def logits(self, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> Tensor:
        """Scores (b, d) of each feature of rows (b, ...); padding has no part in their spread."""
        scores: Tensor = self.network(x) if context is None else self.network(x, context)
        full = torch.promote_types(scores.dtype, torch.float32)
        scores = scores.to(full)  # noise of half precision has too few values to tell features apart
        if self.spread is None:
            return scores + self.offset
        added = self.offset if self.level is None else self.offset + self.level
        normed = layer_norm(scores, scores.shape[1:]) if valid is None else _norm_of_valid(scores, valid)
        return torch.add(added, normed, alpha=self.spread)

    def forward(self, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> MaskDistribution:
        """The distribution over masks of rows x (b, ...)."""
        return self.family(self.logits(x, context, valid), valid)


def _norm_of_valid(scores: Tensor, valid: Tensor) -> Tensor:
    """What `layer_norm` makes of the valid scores (b, d) of each row alone; 0 for padding."""
    count = valid.sum(1, keepdim=True).clamp_min(1)
    far = (scores - scores.masked_fill(~valid, 0).sum(1, keepdim=True) / count).masked_fill(~valid, 0)
    return far * torch.rsqrt(far.square().sum(1, keepdim=True) / count + 1e-5)
