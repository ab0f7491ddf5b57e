"""Rows to scores and masks in one forward pass, with as little waiting as the device allows, and to predictions when they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..core import seeded
from ..core.contracts import Encoded, RawRows
from ..core.kinds import kind_of
from ..methods import TEST_IMPUTATIONS, Method
from ..networks import scores_on_cpu

FEW_SCORES = 2**14  # of which a CPU has picked the best before a GPU has begun to


@dataclass(frozen=True)
class OnePass:
    """Explain rows wherever the selector lies.

    On a GPU the numbers of many-numbered rows are checked while the network runs, few scores are finished on the CPU, and the kernels of a
    selector that is called again and again alike are replayed.

    Args:
        method: fitted.
        max_rows: most rows at a time.
        context: raw rows and their encoding to what the selector sees of the model's output; None: it sees none.
    """

    method: Method
    max_rows: int
    context: Callable[[RawRows, Tensor], Tensor] | None = None

    def __call__(self, X: RawRows) -> tuple[Encoded, Tensor, Tensor]:
        """The encoded rows, on the selector's device, and their scores and masks (b, d) on the CPU."""
        encoded, check_numbers = self._encode(X)
        beside = None if self.context is None else self.context(X, encoded.x)
        parts = []
        for at in range(0, max(1, len(encoded.x)), self.max_rows):
            rows = slice(at, at + self.max_rows)
            context, valid = (None if each is None else each[rows] for each in (beside, encoded.valid))
            parts.append(self._explain(encoded.x[rows], context, valid, None if at else check_numbers))
        scores, mask = parts[0] if len(parts) == 1 else (torch.cat(column) for column in zip(*parts, strict=True))
        return encoded, scores, mask

    def _encode(self, X: RawRows) -> tuple[Encoded, Callable[[], None] | None]:
        """Rows as the networks read them, and a check of their numbers that is still to be made."""
        features, device = self.method.features, self.method.selector.offset.device
        unchecked = kind_of(features).encode_unchecked
        if unchecked is not None and device.type != "cpu" and self.context is None:
            return unchecked(features, X, device)
        return features.encode(X, device), None

    @torch.no_grad()
    def _explain(
        self, x: Tensor, context: Tensor | None, valid: Tensor | None, meanwhile: Callable[[], None] | None
    ) -> tuple[Tensor, Tensor]:
        """Scores and masks on the CPU; meanwhile: what to do once before results are waited for, while a device is at work."""
        selector = self.method.selector
        few = x.device.type != "cpu" and len(x) * self.method.features.count <= FEW_SCORES
        if few and not isinstance(selector.family, nn.Module):
            if meanwhile is not None:
                meanwhile()
            p = selector.family(scores_on_cpu(selector, x, context, valid), None if valid is None else valid.cpu())
            return p.scores, p.mode
        scores, mask = self.method.explain(x, context, valid)
        if meanwhile is not None:
            meanwhile()
        return scores.cpu(), mask.cpu()


def prediction_of(method: Method, encoded: Encoded, mask: Tensor, *, units: tuple[float, float] | None, max_rows: int) -> Tensor:
    """What a method's predictor says (b, c) from what a mask shows; a later fit of its explainer changes nothing here.

    Args:
        method: the fitted parts.
        encoded: rows.
        mask: (b, d) of bool.
        units: scale and mean that give a real-valued target its own units; None: class probabilities.
        max_rows: rows that the predictor sees at a time.
    """
    step = max(1, max_rows // TEST_IMPUTATIONS)
    parts = []
    for at in range(0, len(mask), step):
        rows = slice(at, at + step)
        valid = None if encoded.valid is None else encoded.valid[rows]
        with seeded(0):  # the same imputations for every row and at every call
            parts.append(method.probabilities(encoded.x[rows], mask[rows].to(encoded.x.device), valid))
    values = torch.cat(parts).cpu()
    return values if units is None else values * units[0] + units[1]
