"""Training on the model itself: how much each feature moves its answer along random paths of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from ...core import Batch
from ...core.contracts import MaskDistribution
from ...features import encoded_mask
from ...masks import UniformRate
from ...models import Trained
from .plan import Phase, Step
from .rounds import require_aux_target

if TYPE_CHECKING:
    from ..method import Method

CLIP = 0.002  # probabilities are clipped to this distance from 0 and 1, so that log-odds are finite
HELD_OUT = 0.1  # share of the queries for held-out rows, which choose the epoch


def start_from_means(network: nn.Module) -> nn.Module:
    """The same network whose last dense layer is 0, so that training starts from the mean contributions."""
    last = [layer for layer in network.modules() if isinstance(layer, nn.Linear)][-1]
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return network


class Contributions(nn.Module):
    """Contributions (b, d) of features: the mean of the predicted class, plus what a network adds for the row.

    Args:
        network: Network from rows and the model's outputs to numbers (b, d).
        outputs: Number c of outputs.
        features: Number d of features.
        absolute: Whether scores are absolute contributions, for real values.
    """

    base: Tensor  # (c, d) mean contributions of each predicted class

    def __init__(self, network: nn.Module, outputs: int, features: int, *, absolute: bool) -> None:
        super().__init__()
        self.network, self.absolute = network, absolute
        self.register_buffer("base", torch.zeros(outputs, features))

    def signed(self, x: Tensor, context: Tensor) -> Tensor:
        """Contributions (b, d) to the log-odds of the answer, or to the value."""
        added: Tensor = self.network(x, context)
        if added.shape[1] != self.base.shape[1]:  # `Method` raises for it
            return added
        return self.base[context.argmax(1)] + added

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        """Scores (b, d): contributions, or their absolute values."""
        values = self.signed(x, context)
        return values.abs() if self.absolute else values


@dataclass(frozen=True)
class Paths:
    """Train a predictor on random masks, then a selector on contributions that are measured on the model.

    A path starts at a random background row and switches one feature after the other to the value of the explained row, in random
    order. The contribution of a feature is the step of the model's answer when it is switched: of the log-odds of the predicted class,
    or of the value. The steps of a path add up, so that noise cancels, and their mean over all paths is the Shapley value.

    Args:
        model: Function from encoded rows (n, ...) to probabilities (n, c), or standardised values (n, 1). None: the method's predictor.
        model_rows: Number of queries of the model.
        predictor_share: Share of the training in which the predictor is trained.
        decay: Weight decay of the selector.
        notes: Findings about the queries, for the fit's report.

    Reference: Strumbelj and Kononenko, Explaining prediction models and individual predictions with feature contributions, 2014.
    """

    model: Callable[[Tensor], Tensor] | None = field(default=None, repr=False)
    model_rows: int = 1_000_000
    predictor_share: float = 0.4
    decay: float = 0.1
    notes: tuple[str, ...] = ()

    measures_gains: ClassVar[bool] = False
    chooses_price: ClassVar[bool] = False
    supports_mask_costs: ClassVar[bool] = False

    def phases(self, method: Method) -> list[Phase]:
        """The phases of training: predictor, contributions."""
        trained, error = isinstance(method.predictor, Trained), partial(_error, method)
        select = Step("selector", method.selector, error, error, decay=self.decay)
        rows = max(20, int(self.model_rows * (1 - HELD_OUT) / (method.features.count + 1)))
        share = 1 - self.predictor_share if trained else 1.0
        measured = Phase("contributions", (select,), share, sample_rows=rows, make_aux_targets=self._targets(method))
        if not isinstance(method.predictor, Trained):
            return [measured]
        misfit, copies = partial(_misfit, method), method.objective.likelihood.model_rows_per_row
        return [Phase("predictor", (Step("predictor", method.predictor, misfit, misfit, copies),), self.predictor_share), measured]

    def extra_round(self, method: Method, price: float) -> list[Phase]:
        """Return no phases, because no gains are measured."""
        return []

    def with_frozen_predictor(self) -> Paths:
        """The same plan: its predictor is trained first in any case."""
        return self

    def check_parts(self, method: Method, p: MaskDistribution) -> None:
        """Do nothing: contributions can be measured with any masks and any predictor."""

    def _targets(self, method: Method) -> Callable[[Batch, int], Tensor]:
        """Make mean contributions (n, d) of rows, NaN for rows that no query is left for.

        The first rows are for training, and background of all paths. The second are held out.
        """
        first: list[tuple[Tensor, int]] = []

        @torch.no_grad()
        def targets(batch: Batch, max_rows: int) -> Tensor:
            method.eval()
            queries = method.features.count + 1  # of a path
            if not first:
                first.append((batch.x, max(1, int(self.model_rows * (1 - HELD_OUT) / (queries * len(batch))))))
            background, paths = first[0]
            rows = len(batch) if background is batch.x else max(1, int(self.model_rows * HELD_OUT / (queries * paths)))
            measured = batch.take(slice(0, rows))
            parts = measured.chunks(max(1, max_rows // queries))
            total = sum(torch.cat([self._contributions(method, part, background) for part in parts]) for _ in range(paths))
            result = torch.full((len(batch), queries - 1), torch.nan, device=batch.x.device)
            result[: len(measured)] = total / paths
            if background is batch.x:
                self._set_base(method, batch, result)
            return result

        return targets

    def _contributions(self, method: Method, batch: Batch, background: Tensor) -> Tensor:
        """The contributions (n, d) of features along one path per row."""
        rows, count = len(batch), method.features.count
        order = torch.rand(rows, count, device=batch.x.device)
        rank = (order if batch.valid is None else order + ~batch.valid).argsort(1).argsort(1)  # padding is switched last
        other = background[torch.randint(len(background), (rows,), device=background.device)]
        visible = rank < torch.arange(count + 1, device=rank.device)[:, None, None]  # (d + 1, n, d)
        encoded = encoded_mask(method.features, visible, batch.valid)
        answers = self._answers(
            method, torch.where(encoded, batch.x, other).flatten(0, 1), require_context(batch).argmax(1).repeat(count + 1)
        )
        steps = answers.reshape(count + 1, rows).diff(dim=0).T  # (n, d) in the order of the path
        return steps.gather(1, rank)

    def _answers(self, method: Method, x: Tensor, index: Tensor) -> Tensor:
        """Log-odds (n,) of the classes `index`, or values, for encoded rows."""
        outputs = method.predictor.outputs
        values = outputs.means(method.predict_full(x)) if self.model is None else self.model(x)
        if outputs.real:
            return values.reshape(len(x)).float()
        return values.gather(1, index[:, None])[:, 0].float().clamp(CLIP, 1 - CLIP).logit()

    def _set_base(self, method: Method, batch: Batch, contributions: Tensor) -> None:
        """Set the mean contributions of each predicted class; of a class that no row has, those of all rows."""
        base, index = method.selector.network.base, require_context(batch).argmax(1)
        assert isinstance(base, Tensor)
        for each in range(len(base)):
            rows = contributions[index == each]
            base[each] = rows.mean(0) if len(rows) else contributions.mean(0)


def require_context(batch: Batch) -> Tensor:
    """The model's outputs (b, c)."""
    assert batch.context is not None  # the recipe reads them
    return batch.context


def _error(method: Method, batch: Batch) -> Tensor:
    """Squared error of the contributions."""
    network = method.selector.network
    assert isinstance(network, Contributions)
    target = require_aux_target(batch)
    measured = ~target.isnan() if batch.valid is None else batch.valid & ~target.isnan()
    return (network.signed(batch.x, require_context(batch)) - target.nan_to_num()).square()[measured].mean()


def _misfit(method: Method, batch: Batch) -> Tensor:
    """Loss of the predictor on random masks of all sizes."""
    masks = UniformRate(len(batch), method.features.count, valid=batch.valid, device=batch.x.device).sample((1, 1))
    return method.objective.likelihood(replace(batch, predicted=method.predict(batch, masks))).mean()
