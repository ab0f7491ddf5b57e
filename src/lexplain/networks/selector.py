"""Selectors: networks that return a distribution over masks."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from .. import check
from ..core.contracts import MaskDistribution, MaskFamily


class Selector(nn.Module):
    """Network from a row to a distribution over masks.

    Args:
        network: Network from x (and a context, if there is one) to logits (b, d).
        family: Function from (logits, valid) to a distribution over masks.
        offset: Number added to all logits; above 0, training starts from masks with most features visible.
        spread: Standard deviation that the scores of a row are scaled to; None: not scaled. Scores that grow without limit dominate the
            noise of sampled masks, and gradients vanish.
        level: With a spread, learn one number that is added to all scores, for masks whose size is not fixed.
        reads_output: The network also reads the model's output.
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
        self.register_buffer("offset", torch.tensor(offset))  # changed after training to keep the requested rate

    def logits(self, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> Tensor:
        """Scores (b, d) of the features of rows (b, ...); padding does not influence their spread."""
        scores: Tensor = self.network(x) if context is None else self.network(x, context)
        full = torch.promote_types(scores.dtype, torch.float32)
        scores = scores.to(full)  # noise in half precision has too few values to distinguish features
        if self.spread is None:
            return scores + self.offset
        added = self.offset if self.level is None else self.offset + self.level
        normed = layer_norm(scores, scores.shape[1:]) if valid is None else _norm_of_valid(scores, valid)
        return torch.add(added, normed, alpha=self.spread)

    def forward(self, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> MaskDistribution:
        """The distribution over masks of rows x (b, ...)."""
        return self.family(self.logits(x, context, valid), valid)


def _norm_of_valid(scores: Tensor, valid: Tensor) -> Tensor:
    """`layer_norm` of only the valid scores (b, d) of each row; 0 for padding."""
    count = valid.sum(1, keepdim=True).clamp_min(1)
    centred = (scores - scores.masked_fill(~valid, 0).sum(1, keepdim=True) / count).masked_fill(~valid, 0)
    return centred * torch.rsqrt(centred.square().sum(1, keepdim=True) / count + 1e-5)
