"""Numbers as positions between quantiles, next to their values."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

SCALE = 0.3  # of the positions: at 1 the networks find fewer of the features that matter alone, at 0.1 interactions can be lost


class PiecewiseLinear(nn.Module):
    """Piecewise-linear encoding of encoded rows, in front of a network: each number and its position in each of its bins.

    Args:
        network: Network that reads the encoding.
        bins: Lower edge and width (m, 2) of each bin, after the encoded column it belongs to: (m, 3).

    Reference: Gorishniy, Rubachev and Babenko, On Embeddings for Numerical Features in Tabular Deep Learning, 2022, equation 1.
    """

    column: Tensor  # (m,)
    low: Tensor  # (m,)
    width: Tensor  # (m,)

    def __init__(self, network: nn.Module, bins: np.ndarray) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("column", torch.as_tensor(bins[:, 0]).long())
        self.register_buffer("low", torch.as_tensor(bins[:, 1], dtype=torch.float32))
        self.register_buffer("width", torch.as_tensor(bins[:, 2], dtype=torch.float32))

    def forward(self, x: Tensor, *context: Tensor, gain: Tensor | float = 1.0) -> Tensor:
        """Output of the network for rows (n, D); `gain` multiplies the values, but not their positions."""
        position = ((x[:, self.column] - self.low) / self.width).clamp(0, 1) - 0.5
        output: Tensor = self.network(torch.cat([x * gain, SCALE * position], 1), *context)
        return output

    def reset_parameters(self) -> None:
        """Reset the network; the bins stay."""
        self.network.reset_parameters()  # type: ignore[operator]  # Ensemble has it
