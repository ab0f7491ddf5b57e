"""A predictor that learns to read masked inputs."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ..core import Outputs


class Trained(nn.Module):
    """Predict from a filled input with a network that trains.

    Args:
        network: filled input (n, ...) to outputs (n, c).
        outputs: what the network's numbers stand for.
        sees_mask: put the raw mask beside the input (along axis 1), so that "off" and "zero" do not look alike.
    """

    def __init__(self, network: nn.Module, outputs: Outputs, *, sees_mask: bool) -> None:
        super().__init__()
        self.network, self.outputs, self.sees_mask = network, outputs, sees_mask

    def forward(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given filled inputs and raw masks, both (n, ...)."""
        return self.outputs.from_network(self.network(torch.cat([filled, mask.to(filled.dtype)], 1) if self.sees_mask else filled))
