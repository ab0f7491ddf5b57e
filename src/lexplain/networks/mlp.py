"""Dense networks: for selectors, for predictors, and ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod, sqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import silu


class MLP(nn.Module):
    """Scores of features from dense layers: by default three of 200 units as in REAL-X, with SiLU. A context is appended to the input."""

    def __init__(
        self,
        shape: Sequence[int],
        features: int,
        *,
        context: int = 0,
        hidden: Sequence[int] = (200, 200, 200),
        activation: type[nn.Module] = nn.SiLU,
    ) -> None:
        super().__init__()
        sizes = [prod(shape) + context, *hidden]
        layers: list[nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [nn.Linear(before, after), activation()]
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], features))

    def resize(self, inputs: int) -> None:
        """Replace the first layer by a new one of this many inputs."""
        weight = self.layers[0].weight
        assert isinstance(weight, Tensor)
        self.layers[0] = nn.Linear(inputs, len(weight), device=weight.device)

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """Scores (b, d) of rows (b, ...)."""
        flat = x.flatten(1)
        scores: Tensor = self.layers(flat if context is None else torch.cat([flat, context], 1))
        return scores


def mlp(
    shape: Sequence[int], outputs: int, *, sees_mask: bool, hidden: Sequence[int] = (200, 200), activation: type[nn.Module] = nn.SiLU
) -> nn.Sequential:
    """Dense layers: by default two of 200 units as in REAL-X, with SiLU. With `sees_mask` the mask is appended to the input."""
    sizes = [prod(shape) * (2 if sees_mask else 1), *hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))


class Ensemble(nn.Module):
    """Mean of the outputs of several dense networks; each training row trains one of them.

    The mean of logits is the geometric mean of probabilities. Members differ in their initial weights and training rows.

    Args:
        shape: Shape of one row.
        outputs: Number of outputs.
        members: Number of networks.
        hidden: Widths of the layers of each.
    """

    def __init__(self, shape: Sequence[int], outputs: int, *, members: int = 4, hidden: Sequence[int] = (100, 100, 100)) -> None:
        super().__init__()
        sizes = [prod(shape), *hidden, outputs]
        self.weights = nn.ParameterList([torch.empty(members, before, after) for before, after in pairwise(sizes)])
        self.biases = nn.ParameterList([torch.empty(members, 1, after) for after in sizes[1:]])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sample new initial weights: He's, with outputs near zero."""
        with torch.no_grad():
            for weight, bias in zip(self.weights, self.biases, strict=True):
                weight.normal_(0, sqrt(2 / weight.shape[1]))
                bias.zero_()
            self.weights[-1].mul_(0.05)

    def resize(self, inputs: int) -> None:
        """Replace the first layer by one of this many inputs, and reset all layers."""
        members, _, width = self.weights[0].shape
        self.weights[0] = nn.Parameter(self.weights[0].new_empty(members, inputs, width))
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, c) of rows (n, ...): the mean of all members, or in training mode those of one member per row."""
        flat, members = x.flatten(1), len(self.weights[0])
        if not self.training:
            return self._members(flat.expand(members, *flat.shape)).mean(0)
        short = -len(flat) % members
        padded = torch.cat([flat, flat[:1].expand(short, -1)]) if short else flat
        outputs = self._members(padded.reshape(members, -1, padded.shape[1]))
        return outputs.reshape(-1, outputs.shape[-1])[: len(flat)]

    def _members(self, x: Tensor) -> Tensor:
        """Outputs (members, n, c) of rows (members, n, D)."""
        last = len(self.weights) - 1
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x, weight)
            x = x if place == last else silu(x, inplace=not torch.is_grad_enabled())
        return x
