"""A network that is explained as it is."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.distributions import Distribution

from ..core import Outputs


class Frozen(nn.Module):
    """Predict from a filled input with a network that never trains; gradients flow through it to the mask.

    Args:
        network: raw input to outputs.
        outputs: what the network's numbers stand for.
        to_raw: encoded rows to the raw units the network was trained on, differentiable.
        probabilities: the network returns probabilities rather than logits.
    """

    def __init__(self, network: nn.Module, outputs: Outputs, *, to_raw: Callable[[Tensor], Tensor], probabilities: bool = False) -> None:
        super().__init__()
        self.network, self.outputs, self.to_raw, self.probabilities = network, outputs, to_raw, probabilities
        self.requires_grad_(False)
        self.eval()

    def train(self, mode: bool = True) -> Frozen:
        """Stay in evaluation mode: dropout and batch statistics would make it another model."""
        return super().train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Frozen:
        """Stay frozen."""
        return super().requires_grad_(False)

    def forward(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given filled inputs (n, ...); the mask is not looked at."""
        output = self.network(self.to_raw(filled))
        return self.outputs.from_probabilities(output) if self.probabilities else self.outputs.from_network(output)
