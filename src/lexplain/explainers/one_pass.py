"""Scores and masks of rows in one forward pass, and predictions from the masks."""

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

FEW_SCORES = 2**14  # up to this many, a CPU selects faster than a GPU


@dataclass(frozen=True)
class OnePass:
    """Explain rows on the device of the selector.

    On a GPU, images are checked for NaN while the network runs, few scores are processed on the CPU, and repeated calls of the selector
    replay its kernels.

    Args:
        method: Fitted method.
        max_rows: Maximum number of rows at once.
        context: Function from raw rows and their encoding to the selector's input from the model's output. None: it reads none.
    """

    method: Method
    max_rows: int
    context: Callable[[RawRows, Tensor], Tensor] | None = None

    def __call__(self, X: RawRows) -> tuple[Encoded, Tensor, Tensor]:
        """The encoded rows, on the selector's device, and their scores and masks (b, d) on the CPU."""
        encoded, check_numbers = self._encode(X)
        full_context = None if self.context is None else self.context(X, encoded.x)
        parts = []
        for start in range(0, max(1, len(encoded.x)), self.max_rows):
            rows = slice(start, start + self.max_rows)
            context, valid = (None if each is None else each[rows] for each in (full_context, encoded.valid))
            parts.append(self._explain(encoded.x[rows], context, valid, None if start else check_numbers))
        scores, mask = parts[0] if len(parts) == 1 else (torch.cat(column) for column in zip(*parts, strict=True))
        return encoded, scores, mask

    def _encode(self, X: RawRows) -> tuple[Encoded, Callable[[], None] | None]:
        """Encoded rows, and a check of their numbers that is yet to be made, if any."""
        features, device = self.method.features, self.method.selector.offset.device
        unchecked = kind_of(features).encode_unchecked
        if unchecked is not None and device.type != "cpu" and self.context is None:
            return unchecked(features, X, device)
        return features.encode(X, device), None

    @torch.no_grad()
    def _explain(
        self, x: Tensor, context: Tensor | None, valid: Tensor | None, meanwhile: Callable[[], None] | None
    ) -> tuple[Tensor, Tensor]:
        """Scores and masks on the CPU. `meanwhile` is called while the device computes."""
        selector = self.method.selector
        small = x.device.type != "cpu" and len(x) * self.method.features.count <= FEW_SCORES
        if small and not isinstance(selector.family, nn.Module):
            if meanwhile is not None:
                meanwhile()
            p = selector.family(scores_on_cpu(selector, x, context, valid), None if valid is None else valid.cpu())
            return p.scores, p.mode
        scores, mask = self.method.explain(x, context, valid)
        if meanwhile is not None:
            meanwhile()
        return scores.cpu(), mask.cpu()


def kept_prediction(method: Method, encoded: Encoded, mask: Tensor, *, units: tuple[float, float] | None, max_rows: int) -> Tensor:
    """Predictions (b, c) of a method's predictor from the visible features. A later fit of the explainer does not change them.

    Args:
        method: Fitted method.
        encoded: Encoded rows.
        mask: Masks (b, d) of bool.
        units: Scale and mean that convert predictions to the units of a real-valued target. None: class probabilities.
        max_rows: Maximum number of rows sent to the predictor at once.
    """
    step = max(1, max_rows // TEST_IMPUTATIONS)
    parts = []
    for start in range(0, len(mask), step):
        rows = slice(start, start + step)
        valid = None if encoded.valid is None else encoded.valid[rows]
        with seeded(0):  # the same imputations for every row and in every call
            parts.append(method.probabilities(encoded.x[rows], mask[rows].to(encoded.x.device), valid))
    values = torch.cat(parts).cpu()
    return values if units is None else values * units[0] + units[1]
