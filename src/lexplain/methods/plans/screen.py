"""Screening of wide tables: drop columns that the predictor does not need."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, prod, sqrt
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ...core import Batch
from ...core.contracts import Features
from ...core.kinds import kind_of
from ...networks import PiecewiseLinear
from ...objectives import cross_entropy

if TYPE_CHECKING:
    from ..method import Method

MIN_GAIN, MAX_GAIN = 2e-4, 4.0  # nats; gains are clipped to this range, beyond which features are clearly dropped or kept
SCREENED_FROM, SCREENED_TO = 32, 16  # tables with more features than the first are screened down to the second
DRAWS = 8  # permutations of each feature
SURE = 3.0  # standard errors above 0 from which a feature counts as important


class ColumnScreen(nn.Module):
    """A network that sees some of the columns; the others are set to their mean.

    Args:
        network: Network that reads the columns.
        columns: Number of columns.
        features: Number of features, for a network with one score per feature. Features that it does not see get the lowest score.
    """

    seen: Tensor  # (columns,)
    scored: Tensor  # (features,)

    def __init__(self, network: nn.Module, columns: int, *, features: int = 0) -> None:
        super().__init__()
        self.network, self.features = network, features
        self.register_buffer("seen", torch.ones(columns, dtype=torch.bool))
        self.register_buffer("scored", torch.ones(features, dtype=torch.bool))

    def forward(self, x: Tensor, *context: Tensor) -> Tensor:
        """Outputs of the network for rows (n, columns)."""
        scale = (len(self.seen) / self.seen.sum()).sqrt()  # keeps the scale of a layer's input when few columns are left
        if isinstance(self.network, PiecewiseLinear):
            output: Tensor = self.network(x * self.seen, *context, gain=scale)
        else:
            output = self.network(x * (self.seen * scale), *context)
        return torch.where(self.scored, output, log(MIN_GAIN)) if self.features else output

    @property
    def places(self) -> Tensor:
        """The indices of the features that the network scores."""
        return self.scored.nonzero()[:, 0]

    def reset_parameters(self) -> None:
        """Reset the network, to train it on the remaining columns."""
        self.network.reset_parameters()  # type: ignore[operator]  # Ensemble has it


def add_screen(network: nn.Module, features: Features, *, scores: bool) -> nn.Module:
    """Wrap the network in a `ColumnScreen` if the table is wide. scores: the network returns one score per feature."""
    if features.count <= SCREENED_FROM or not kind_of(features).flat:
        return network
    return ColumnScreen(network, prod(features.shape), features=features.count if scores else 0)


def screening_rounds(features: int, least: int = SCREENED_TO) -> int:
    """How often half of the features are dropped until `least` are left. 0 if the table is not wide."""
    count = 0
    while features > least and (count or features > SCREENED_FROM):
        features, count = max(least, ceil(features / 2)), count + 1
    return count


@torch.no_grad()
def permutation_importance(method: Method, batch: Batch, *, max_rows: int) -> tuple[Tensor, Tensor]:
    """Increase (d,) of the loss on held-out rows when a feature takes another row's value, and its standard error (d,).

    The loss compares with the target, not with predictions on full rows. So columns that a predictor relies on by mistake are detected:
    without them, its loss is smaller.

    Reference: Breiman, Random Forests, 2001, section 10.
    """
    full = torch.ones_like(batch.x, dtype=torch.bool)
    count = method.features.count

    parts = [slice(start, start + max_rows) for start in range(0, len(batch), max_rows)]

    def cost(x: Tensor) -> Tensor:
        return torch.cat([cross_entropy(batch.take(part).target, method.predictor(x[part], full[part])) for part in parts])

    owners = method.features.expand(torch.eye(count, dtype=torch.bool, device=batch.x.device))  # (d, D): the columns of each feature
    base, increase = cost(batch.x), torch.zeros(count, len(batch), device=batch.x.device)
    for _ in range(DRAWS):
        other = batch.x[torch.randperm(len(batch), device=batch.x.device)]
        increase += torch.stack([cost(torch.where(owner, other, batch.x)) for owner in owners])
    mean_increase = increase / DRAWS - base  # (d, b)
    return mean_increase.mean(1), mean_increase.std(1) / sqrt(len(batch))


def drop_half(method: Method, least: int = SCREENED_TO) -> Callable[[Batch, int], None]:
    """A function to call before a phase: it keeps the more important half of the features and resets the predictor.

    Features that are clearly important are always kept. If most columns of a wide table matter, few are dropped.
    """

    @torch.no_grad()
    def drop(validation: Batch, max_rows: int) -> None:
        method.eval()
        value, error = permutation_importance(method, validation, max_rows=max_rows)
        remaining = unscreened_features(method)
        value[~remaining] = -torch.inf
        kept = value > SURE * error
        kept[value.topk(max(least, ceil(int(remaining.sum()) / 2))).indices] = True
        selector, predictor = method.selector.network, getattr(method.predictor, "network", None)
        assert isinstance(selector, ColumnScreen) and isinstance(predictor, ColumnScreen)
        for network in (selector, predictor):
            network.seen.copy_(method.features.expand(kept))
        selector.scored.copy_(kept)
        predictor.reset_parameters()

    return drop


def unscreened_features(method: Method) -> Tensor:
    """The features (d,) that the predictor's screen leaves."""
    network = getattr(method.predictor, "network", None)
    device = next(method.selector.parameters()).device
    if not isinstance(network, ColumnScreen):
        return torch.ones(method.features.count, dtype=torch.bool, device=device)
    owners = method.features.expand(torch.eye(method.features.count, dtype=torch.bool, device=device))
    seen: Tensor = (owners & network.seen).any(1)
    return seen
