"""What an explainer explains: the model or, for labels, its own predictor. Its output for rows, and how far its answers hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..auditing.verify import make_verifier, verified_explanation
from ..core import Explanation
from ..core.contracts import Encoded, RawRows
from ..core.rows import plain
from ..methods import Method
from ..models import QueriedModel
from .settings import required_model

if TYPE_CHECKING:
    from .explainer import Explainer


def output_of(explainer: Explainer, X: RawRows, encoded: Encoded) -> Callable[[], Tensor]:
    """A function that returns the explained outputs (b, c): those of the model or, without one, of the explainer's predictor."""
    model, max_rows = explainer.model_function_, explainer._max_rows()
    if model is None:
        return partial(_own_output, explainer.method_, encoded.x, _units(explainer), max_rows)
    return _ModelOutput(model, explainer.features_.as_model_input(X, encoded.x))


class _ModelOutput:
    """A function that queries the model. Its pickle holds the output, because a model may not be picklable."""

    def __init__(self, model: QueriedModel, rows: RawRows) -> None:
        self.model, self.rows = model, rows

    def __call__(self) -> Tensor:
        values = np.ascontiguousarray(self.model(self.rows))
        return torch.as_tensor(values, dtype=torch.float32).reshape(len(values), -1)

    def __reduce__(self) -> tuple[type[partial[Tensor]], tuple[object, ...]]:
        return partial, (torch.clone, self())


@torch.no_grad()
def _own_output(method: Method, x: Tensor, units: tuple[float, float] | None, max_rows: int) -> Tensor:
    means = method.predictor.outputs.means
    values = torch.cat([means(method.predict_full(part)) for part in torch.split(x, max_rows)]).cpu()
    return values if units is None else values * units[0] + units[1]


def _units(explainer: Explainer) -> tuple[float, float] | None:
    """Scale and mean that convert predictions to the units of a real-valued target. None: class probabilities."""
    return (explainer.target_scale_, explainer.target_mean_) if explainer.outputs_.real else None


def verified(
    explainer: Explainer,
    explanation: Explanation,
    X: RawRows,
    *,
    background: RawRows = None,
    holds: float = 0.95,
    within: float | None = None,
    max_model_rows: int | None = None,
) -> Explanation:
    """The explanation of rows X, verified by queries of the model or, without one, of the explainer's predictor."""
    rows = explainer.background_ if background is None else background
    if rows is None:
        raise ValueError("This explainer has no background rows to verify with. Pass background=, such as the training rows.")
    query, device = explainer.model_function_, explainer.method_.selector.offset.device
    if query is None:
        if explainer.regime_ not in ("free", "fixed"):
            required_model(None)
        query = QueriedModel(
            lambda some: _own_output(
                explainer.method_, explainer.features_.encode(some, device).x, _units(explainer), explainer._max_rows()
            ).numpy()
        )
    verifier = make_verifier(
        query,
        explainer.features_,
        rows,
        real=explainer.outputs_.real,
        holds=holds,
        within=within,
        spread=explainer.target_scale_,
        max_model_rows=max_model_rows,
        max_rows=explainer.max_rows,
        random_state=explainer.random_state,
    )
    sized = plain(explainer.keep) not in (None, "auto") or explainer.penalty is not None
    found = verifier(X, explanation.scores, explanation.mask if sized else None)
    return verified_explanation(explainer._explanation(X, explainer.features_.encode(X, device), explanation.scores, found.mask), found)


def rows_of(explainer: Explainer, explanation: Explanation) -> RawRows:
    """The raw rows of an explanation; raises if it has none or is of other features."""
    if not isinstance(explanation, Explanation):
        raise TypeError(
            f"explainer.verify takes an explanation of this explainer, got {type(explanation).__name__}. Pass explainer.explain(X), or use "
            "lexplain.verify for scores of other tools."
        )
    if explanation.data is None:
        raise ValueError("This explanation has no rows, as after from_json, so the model cannot be queried. Explain the rows again.")
    if explanation.scores.shape[1] != explainer.features_.count:
        raise ValueError(
            f"The explanation has {explanation.scores.shape[1]} features, but the explainer has {explainer.features_.count}. "
            "Pass an explanation of this explainer, or use lexplain.verify for scores of other tools."
        )
    return explanation.data
