"""Screening of wide tables: drop columns that the predictor does not need."""

from __future__ import annotations

from math import ceil, log, prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from ...core import Batch, target_values
from ...core.contracts import Features
from ...core.kinds import kind_of
from ...features.columns import ALL_BINS, MAX_BINS, MIN_BINS, QUANTILE_ROWS, bins_between_quantiles
from ...networks import PiecewiseLinear
from ...objectives import cross_entropy
from .plan import StartPhase

if TYPE_CHECKING:
    from ..method import Method

MIN_GAIN, MAX_GAIN = 2e-4, 4.0  # nats; gains are clipped to this range, beyond which features are clearly dropped or kept
SCREENED_FROM, SCREENED_TO = 32, 16  # tables with more features than the first are screened down to the second
DRAWS = 8  # permutations of each feature
SURE = 3.0  # standard errors above 0 from which a feature counts as important
ALONE = 0.5  # share of the remaining features that is chosen by how the target depends on each feature alone
QUANTILES = 8  # groups of rows for that


class ColumnScreen(nn.Module):
    """A network that sees some of the columns.

    A network with a method `resize` is rebuilt to read only these. Other networks, and those of older files, read all columns, with the
    others set to their mean.

    Args:
        network: Network that reads the columns.
        columns: Number of columns.
        features: Number of features, for a network with one score per feature. Features that it does not see get the lowest score.
    """

    seen: Tensor  # (columns,)
    scored: Tensor  # (features,)
    numbers: Tensor  # columns that have a piecewise-linear encoding
    columns: Tensor | None  # columns that a rebuilt network reads; None: the network is not rebuilt

    def __init__(self, network: nn.Module, columns: int, *, features: int = 0) -> None:
        super().__init__()
        self.network, self.features = network, features
        self.register_buffer("seen", torch.ones(columns, dtype=torch.bool))
        self.register_buffer("scored", torch.ones(features, dtype=torch.bool))
        numbers = torch.unique(network.column) if isinstance(network, PiecewiseLinear) else torch.zeros(0, dtype=torch.long)
        self.register_buffer("numbers", numbers, persistent=False)
        self.register_buffer("columns", None)

    def forward(self, x: Tensor, *context: Tensor) -> Tensor:
        """Outputs of the network for rows (n, columns)."""
        if self.columns is not None:
            output: Tensor = self.network(x[:, self.columns], *context)
        else:
            scale = (len(self.seen) / self.seen.sum()).sqrt()  # keeps the scale of a layer's input when few columns are left
            if isinstance(self.network, PiecewiseLinear):
                output = self.network(x * self.seen, *context, gain=scale)
            else:
                output = self.network(x * (self.seen * scale), *context)
        return torch.where(self.scored, output, log(MIN_GAIN)) if self.features else output

    def see(self, seen: Tensor, rows: Tensor, *, least_bins: int = 0) -> None:
        """See only these columns, with a rebuilt network if possible.

        Args:
            seen: Whether each column remains (columns,).
            rows: Encoded rows (n, columns), for the quantiles of a piecewise-linear encoding.
            least_bins: Bins per column of the encoding if there are many columns.
        """
        self.seen.copy_(seen)
        if not hasattr(self._resizable, "resize"):
            return
        columns = seen.nonzero()[:, 0]
        places = torch.isin(columns, self.numbers).nonzero()[:, 0]
        bins = max(least_bins, min(MAX_BINS, ALL_BINS // max(1, len(places))))
        if bins < MIN_BINS:
            places = places[:0]
        self._rebuild(columns, bins_between_quantiles(rows[:, columns[places]].cpu().numpy(), places.tolist(), bins))

    @property
    def _resizable(self) -> nn.Module:
        return self.network.network if isinstance(self.network, PiecewiseLinear) else self.network

    def _rebuild(self, columns: Tensor, bins: np.ndarray) -> None:
        network = self._resizable
        network.resize(len(columns) + len(bins))  # type: ignore[operator]  # checked by the callers
        self.network = PiecewiseLinear(network, bins).to(columns.device) if len(bins) else network
        self.columns = columns

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Rebuild the network as it was saved, before its tensors are loaded."""
        columns, bins = state_dict.get(f"{prefix}columns"), state_dict.get(f"{prefix}network.column", ())
        own = self.state_dict()
        if columns is not None and [len(columns), len(bins)] != [len(own.get(name, ())) for name in ("columns", "network.column")]:
            self._rebuild(columns.to(self.seen.device), np.zeros((len(bins), 3)))
        super()._load_from_state_dict(state_dict, prefix, *args)

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

    remaining = unscreened_features(method)
    owners = method.features.expand(torch.eye(count, dtype=torch.bool, device=batch.x.device)[remaining])  # (r, D): the columns of each
    base, increase = cost(batch.x), torch.zeros(count, len(batch), device=batch.x.device)
    for _ in range(DRAWS):
        other = batch.x[torch.randperm(len(batch), device=batch.x.device)]
        increase[remaining] += torch.stack([cost(torch.where(owner, other, batch.x)) for owner in owners]) - base
    mean_increase = increase / DRAWS  # (d, b)
    return mean_increase.mean(1), mean_increase.std(1) / sqrt(len(batch))


@torch.no_grad()
def marginal_dependence(batch: Batch, features: Features) -> Tensor:
    """How clearly the target depends on each feature alone (d,): chi-square over quantiles, in standard deviations from independence.

    All rows are used, so that a feature with a small effect is found that a network of many columns does not learn.

    Reference: Fan and Lv, Sure independence screening for ultrahigh dimensional feature space, 2008.
    """
    target = target_values(batch.target).reshape(len(batch), -1)
    target = target - target.mean(0)
    total = target.square().sum().clamp_min(torch.finfo(target.dtype).tiny)
    shares = torch.linspace(0, 1, QUANTILES + 1, device=batch.x.device)
    result = torch.zeros(batch.x.shape[1], device=batch.x.device)
    for index, x in enumerate(batch.x.T.contiguous()):
        edges = torch.unique(torch.quantile(x[:: ceil(len(x) / QUANTILE_ROWS)], shares))[:-1]
        group = one_hot(torch.bucketize(x, edges), QUANTILES + 1).to(x.dtype)  # (b, q)
        size = group.sum(0)
        between = ((group.T @ target).square().sum(1) / size.clamp_min(1)).sum()
        freedom = (size > 0).sum() - 1
        result[index] = (len(x) * between / total - freedom) / (2 * freedom.clamp_min(1)).sqrt()
    owners = features.expand(torch.eye(features.count, dtype=torch.bool, device=batch.x.device))
    return torch.where(owners, result, -torch.inf).amax(1)


def drop_half(method: Method, least: int = SCREENED_TO, *, last: bool = False) -> StartPhase:
    """A function to call before a phase: it keeps the better half of the features and rebuilds the networks.

    Half of these are the features on which the target depends most clearly alone. The others are the most important ones for the
    predictor. Features that are clearly important for it are always kept. If most columns of a wide table matter, few are dropped.
    """

    @torch.no_grad()
    def drop(train: Batch, validation: Batch, max_rows: int) -> None:
        method.eval()
        value, error = permutation_importance(method, validation, max_rows=max_rows)
        remaining = unscreened_features(method)
        count = max(least, ceil(int(remaining.sum()) / 2))
        alone = marginal_dependence(train, method.features)
        alone[~remaining] = value[~remaining] = -torch.inf
        kept = value > SURE * error
        kept[alone.topk(int(ALONE * count)).indices] = True
        kept[torch.where(kept, torch.inf, value).topk(count).indices] = True
        selector, predictor = method.selector.network, getattr(method.predictor, "network", None)
        assert isinstance(selector, ColumnScreen) and isinstance(predictor, ColumnScreen)
        for network in (selector, predictor):
            network.see(method.features.expand(kept), train.x, least_bins=MIN_BINS if last else 0)
        selector.scored.copy_(kept)
        predictor.reset_parameters()

    return drop


def see_all(method: Method) -> StartPhase:
    """A function to call before the first phase of screening: the predictor reads all columns, without bins if there are many."""

    def see(train: Batch, validation: Batch, max_rows: int) -> None:  # noqa: ARG001  called like the functions of `drop_half`
        network = getattr(method.predictor, "network", None)
        assert isinstance(network, ColumnScreen)
        network.see(torch.ones_like(network.seen), train.x)

    return see


def unscreened_features(method: Method) -> Tensor:
    """The features (d,) that the predictor's screen leaves."""
    network = getattr(method.predictor, "network", None)
    device = next(method.selector.parameters()).device
    if not isinstance(network, ColumnScreen):
        return torch.ones(method.features.count, dtype=torch.bool, device=device)
    owners = method.features.expand(torch.eye(method.features.count, dtype=torch.bool, device=device))
    seen: Tensor = (owners & network.seen).any(1)
    return seen
