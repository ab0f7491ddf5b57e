"""Models that are asked about rows: any callable, and a network of encoded rows as a function of raw ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ..core import Outputs
from ..core.contracts import Features, RawRows
from ..core.rows import as_array, rows_digest
from .labels import as_many_outputs, model_output

if TYPE_CHECKING:
    from .target import Target

MAX_CACHED = 8  # answers kept, so that the same rows are asked for once


class BlackBox(nn.Module):
    """Predict by asking a function of raw rows; no gradient flows, and the same rows are asked for once.

    Args:
        function: raw rows (an array or a DataFrame) to (n, classes) probabilities or (n,) values.
        outputs: what its numbers stand for.
        decode: encoded rows to raw rows.
    """

    differentiable = False

    def __init__(self, function: Callable[[RawRows], object], outputs: Outputs, *, decode: Callable[[Tensor], RawRows]) -> None:
        super().__init__()
        self.ask, self.outputs, self.decode = CachedModel(function), outputs, decode

    def forward(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given filled inputs (n, ...); the mask is not looked at."""
        answer = self.ask(self.decode(filled))
        values = torch.as_tensor(np.ascontiguousarray(answer), dtype=filled.dtype, device=filled.device).reshape(len(filled), -1)
        as_many_outputs(values.shape[1], self.outputs.count)
        return self.outputs.from_probabilities(values)


class CachedModel:
    """A function of rows that counts what it is asked and remembers its last answers."""

    def __init__(self, function: Callable[[RawRows], object]) -> None:
        self.function = function
        self.calls = self.rows = 0
        self._answers: dict[bytes, np.ndarray] = {}

    def __call__(self, rows: RawRows) -> np.ndarray:
        """The checked answer to these rows, as an array."""
        key = rows_digest(rows)
        if key not in self._answers:
            self.calls, self.rows = self.calls + 1, self.rows + len(rows)
            answer = as_array(self.function(rows))
            while len(self._answers) >= MAX_CACHED:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = model_output(answer, len(rows))
        return self._answers[key]


class EncodedModel:
    """A network of encoded rows as a function of raw ones: class probabilities, or values."""

    def __init__(self, encoded: nn.Module, features: Features, target: Target) -> None:
        self.encoded, self.features, self.target = encoded, features, target

    @torch.no_grad()
    def __call__(self, rows: RawRows) -> np.ndarray:
        """Ask the network."""
        output = self.encoded(self.features.encode(rows).x).double()
        real = self.target.outputs.real
        answer: np.ndarray = (output * self.target.scale + self.target.mean if real else output.softmax(1)).numpy()
        return answer
