"""Dense networks: of scores for a selector, of outputs for a predictor, and several that answer as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod, sqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import silu


class MLP(nn.Module):
    """Score features with dense layers, by default the three of 200 of REAL-X, smooth unless told; a context is put beside the input."""

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

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """Scores (b, d) of rows (b, ...)."""
        flat = x.flatten(1)
        scores: Tensor = self.layers(flat if context is None else torch.cat([flat, context], 1))
        return scores


def mlp(
    shape: Sequence[int], outputs: int, *, sees_mask: bool, hidden: Sequence[int] = (200, 200), activation: type[nn.Module] = nn.SiLU
) -> nn.Sequential:
    """Dense layers, by default the two of 200 of REAL-X, but smooth unless told; with `sees_mask` the mask comes beside the input."""
    sizes = [prod(shape) * (2 if sees_mask else 1), *hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))


class Ensemble(nn.Module):
    """Answer with the mean of several dense networks; while training, each row teaches one of them.

    The mean of logits is the geometric mean of probabilities. Members differ by their first weights and by the rows they meet.

    Args:
        shape: of one input.
        outputs: numbers returned.
        members: networks.
        hidden: widths of the layers of each.
    """

    def __init__(self, shape: Sequence[int], outputs: int, *, members: int = 4, hidden: Sequence[int] = (100, 100, 100)) -> None:
        super().__init__()
        sizes = [prod(shape), *hidden, outputs]
        self.weights = nn.ParameterList([torch.empty(members, before, after) for before, after in pairwise(sizes)])
        self.biases = nn.ParameterList([torch.empty(members, 1, after) for after in sizes[1:]])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new first weights: He's, and an answer that starts near zero."""
        with torch.no_grad():
            for weight, bias in zip(self.weights, self.biases, strict=True):
                weight.normal_(0, sqrt(2 / weight.shape[1]))
                bias.zero_()
            self.weights[-1].mul_(0.05)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, c) of rows (n, ...): of all members, or while training of one member each."""
        flat, members = x.flatten(1), len(self.weights[0])
        if not self.training:
            return self._members(flat.expand(members, *flat.shape)).mean(0)
        short = -len(flat) % members
        dealt = torch.cat([flat, flat[:1].expand(short, -1)]) if short else flat
        answers = self._members(dealt.reshape(members, -1, dealt.shape[1]))
        return answers.reshape(-1, answers.shape[-1])[: len(flat)]

    def _members(self, x: Tensor) -> Tensor:
        """Outputs (members, n, c) of rows (members, n, D)."""
        last = len(self.weights) - 1
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x, weight)
            x = x if place == last else silu(x, inplace=not torch.is_grad_enabled())
        return x
