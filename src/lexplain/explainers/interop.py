"""A fitted explainer for other tools: captum's `attribute`, and the explain_func that Quantus's metrics call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor

from .. import check
from ..core.contracts import Labels, Model, RawRows
from ..core.digest import digest
from ..core.rows import as_array

if TYPE_CHECKING:
    from .explainer import Explainer


def attribute(explainer: Explainer, inputs: Tensor | tuple[Tensor, ...]) -> Tensor | tuple[Tensor, ...]:
    """Scores in the shape, type and structure of the rows given; every column of a group, and pixel of a patch, has its score."""
    check.fitted(explainer)
    if isinstance(inputs, tuple):  # captum's metrics wrap what they are given, and expect it back wrapped
        check.one_input(len(inputs))
    rows, features = inputs[0] if isinstance(inputs, tuple) else inputs, explainer.features_
    scores = features.expand_scores(explainer.explain(features.from_array(rows)).scores)
    scores = scores.to(device=rows.device, dtype=rows.dtype if rows.is_floating_point() else torch.get_default_dtype())
    return (scores,) if isinstance(inputs, tuple) else scores


def to_quantus(explainer: Explainer, *, refit: Explainer | None = None) -> Callable[..., np.ndarray]:
    """Turn a fitted explainer into Quantus's `explain_func(model, inputs, targets)`, which returns scores of the shape of the inputs.

    An amortised explainer explains the model that it was fitted to. Quantus's randomisation metrics hand over models with other weights and
    watch whether explanations follow: with `refit` they can, without it they see scores that do not change.

    Args:
        explainer: fitted.
        refit: rows (n, d) to fit a copy of the explainer on, for every model with weights of its own that is handed over; None: the fitted
            explainer answers for every model.
    """
    check.fitted(explainer)
    fits: dict[str, Explainer] = {}

    def explain_func(model: Model, inputs: RawRows, targets: Labels = None, **settings: Any) -> np.ndarray:  # noqa: ARG001  Quantus names them
        """Scores of rows; what else Quantus hands over (targets, device) changes nothing in a selection."""
        chosen = explainer
        if refit is not None:
            key = digest(model.state_dict())  # the same object may have changed, and its copies be the same
            if key not in fits:
                fits[key] = clone(explainer).fit(refit, model=model)
            chosen = fits[key]
        rows = np.array(as_array(inputs))
        scores: np.ndarray = chosen.attribute(torch.from_numpy(rows)).numpy()
        return scores.reshape(rows.shape)  # Quantus's localisation metrics want a channel, so that a row is (1, d)

    return explain_func
