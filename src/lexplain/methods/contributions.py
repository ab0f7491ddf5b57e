"""Signed contributions of features, learned from queries of the model."""

from __future__ import annotations

from math import log2

from torch import nn

from .. import check
from ..core import Outputs
from ..core.contracts import Features
from ..core.kinds import kind_of
from ..imputers import IndependentGaussian
from ..masks import TopK
from ..networks import Selector
from ..objectives import Objective
from .method import Method
from .parts import Parts, predictor_part
from .plans.paths import Contributions, Paths, start_from_means
from .recipe import THIRD, recipe
from .sizes import MaskFactory

MODEL_ROWS = 1_000_000  # queries of the model, by default
MOST_SECONDS = 30.0  # of the model, by default


@recipe(sized_by="k", size=THIRD, reads_output=True, imputer="by kind", supports_mask_costs=False)
def contributions(features: Features, outputs: Outputs, parts: Parts, *, k: int, model_rows: int | None = None) -> Method:
    """Keep the k features with the largest contributions to the model's answer. The order of the features is meant for `verify`.

    The selector reads the row and the model's output. It learns from queries of the model on rows between the explained row and a
    background row; see `methods.plans.paths.Paths`. For classes, contributions against the answer are negative and come last.

    Args:
        features: Fitted features.
        outputs: Type of the predictions.
        parts: Networks, imputer, regime and model supplied by the user.
        k: Number of features to keep; by default a third of them.
        model_rows: Number of queries of the model. None: 1,000,000, or the power of two that takes at most 30 seconds.
    """
    kind = kind_of(features)
    network = parts.selector
    if network is None:
        network = (kind.regressor or kind.selector)(features, context=outputs.count, activation=nn.SiLU)
        network = start_from_means(network) if kind.flat else network
    check.counts(model_rows=model_rows)
    rows = affordable_rows(None if parts.model is None else parts.model.seconds_per_row) if model_rows is None else model_rows
    lowered = f"the model is slow: it was queried on {rows:,} rows instead of {MODEL_ROWS:,}; pass options={{'model_rows': ...}} for more"
    return Method(
        "contributions",
        features=features,
        selector=Selector(
            Contributions(network, outputs.count, features.count, absolute=outputs.real), MaskFactory(TopK, {"k": k}), reads_output=True
        ),
        imputer=parts.imputer_or(IndependentGaussian()),
        predictor=predictor_part(parts.predictor, features, outputs, sees_mask=False),
        objective=Objective(),
        plan=Paths(parts.model, rows, notes=(lowered,) if model_rows is None and rows < MODEL_ROWS else ()),
    )


def affordable_rows(seconds_per_row: float | None) -> int:
    """How many queries of a model fit into `MOST_SECONDS`: `MODEL_ROWS`, or a power of two below."""
    affordable = MODEL_ROWS if not seconds_per_row else MOST_SECONDS / seconds_per_row
    return MODEL_ROWS if affordable >= MODEL_ROWS else 2 ** max(0, int(log2(max(1.0, affordable))))
