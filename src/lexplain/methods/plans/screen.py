"""A wide table's first question: which columns matter at all?"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, prod, sqrt
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ...core import Batch
from ...core.contracts import Features
from ...core.kinds import kind_of
from ...objectives import cross_entropy

if TYPE_CHECKING:
    from ..method import Method

MIN_GAIN, MAX_GAIN = 2e-4, 4.0  # nats between which gains are told apart; what lies beyond is surely dropped, or surely kept
SCREENED_FROM, SCREENED_TO = 32, 16  # more features than the first are screened until there are as few as the second
DRAWS = 8  # values drawn anew for a feature of each row
SURE = 3.0  # standard errors above 0 at which a feature is surely worth something


class ColumnScreen(nn.Module):
    """Show a network some columns alone; the others look like their mean.

    Args:
        network: what reads the columns.
        columns: how many there are.
        features: for a network of one score a feature, how many; a feature that is not seen has the lowest score.
    """

    seen: Tensor  # (columns,)
    scored: Tensor  # (features,)

    def __init__(self, network: nn.Module, columns: int, *, features: int = 0) -> None:
        super().__init__()
        self.network, self.features = network, features
        self.register_buffer("seen", torch.ones(columns, dtype=torch.bool))
        self.register_buffer("scored", torch.ones(features, dtype=torch.bool))

    def forward(self, x: Tensor, *context: Tensor) -> Tensor:
        """What the network says of rows (n, columns)."""
        louder = (len(self.seen) / self.seen.sum()).sqrt()  # the few that are left reach a layer as loud as all did
        answer: Tensor = self.network(x * (self.seen * louder), *context)
        return torch.where(self.scored, answer, log(MIN_GAIN)) if self.features else answer

    @property
    def places(self) -> Tensor:
        """Which features have a score of their own."""
        return self.scored.nonzero()[:, 0]

    def reset_parameters(self) -> None:
        """Let the network start anew on the columns that are left."""
        self.network.reset_parameters()  # type: ignore[operator]  # Ensemble has it


def add_screen(network: nn.Module, features: Features, *, scores: bool) -> nn.Module:
    """The network, behind a screen where a table is wide; scores: it has one answer a feature."""
    if features.count <= SCREENED_FROM or not kind_of(features).flat:
        return network
    return ColumnScreen(network, prod(features.shape), features=features.count if scores else 0)


def screening_rounds(features: int, least: int = SCREENED_TO) -> int:
    """How often half of the features have to go until as few are left; none where a table is not wide."""
    count = 0
    while features > least and (count or features > SCREENED_FROM):
        features, count = max(least, ceil(features / 2)), count + 1
    return count


@torch.no_grad()
def permutation_importance(method: Method, batch: Batch, *, max_rows: int) -> tuple[Tensor, Tensor]:
    """How much worse (d,) the target of rows nobody learned from is predicted when a feature takes another row's value; and the error (d,).

    What is known of the target, and not of the predictor, tells a column that a predictor leans on by mistake: without it the
    predictor is better.

    Reference: Breiman, Random Forests, 2001, section 10.
    """
    whole = torch.ones_like(batch.x, dtype=torch.bool)
    count = method.features.count

    parts = [slice(at, at + max_rows) for at in range(0, len(batch), max_rows)]

    def cost(x: Tensor) -> Tensor:
        return torch.cat([cross_entropy(batch.take(part).target, method.predictor(x[part], whole[part])) for part in parts])

    owners = method.features.expand(torch.eye(count, dtype=torch.bool, device=batch.x.device))  # (d, D): the columns of each feature
    base, worse = cost(batch.x), torch.zeros(count, len(batch), device=batch.x.device)
    for _ in range(DRAWS):
        other = batch.x[torch.randperm(len(batch), device=batch.x.device)]
        worse += torch.stack([cost(torch.where(owner, other, batch.x)) for owner in owners])
    lost = worse / DRAWS - base  # (d, b)
    return lost.mean(1), lost.std(1) / sqrt(len(batch))


def drop_half(method: Method, least: int = SCREENED_TO) -> Callable[[Batch, int], None]:
    """Before a phase: keep the half of the features that is worth more, and let the predictor learn anew from it.

    What is surely worth something stays in any case: where most columns of a wide table matter, few go.
    """

    @torch.no_grad()
    def drop(validation: Batch, max_rows: int) -> None:
        method.eval()
        value, error = permutation_importance(method, validation, max_rows=max_rows)
        left = unscreened_features(method)
        value[~left] = -torch.inf
        kept = value > SURE * error
        kept[value.topk(max(least, ceil(int(left.sum()) / 2))).indices] = True
        chooses, predicts = method.selector.network, getattr(method.predictor, "network", None)
        assert isinstance(chooses, ColumnScreen) and isinstance(predicts, ColumnScreen)
        for network in (chooses, predicts):
            network.seen.copy_(method.features.expand(kept))
        chooses.scored.copy_(kept)
        predicts.reset_parameters()

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
