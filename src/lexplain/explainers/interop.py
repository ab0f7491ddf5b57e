"""A fitted explainer in other tools: captum's `attribute`, and the explain_func that Quantus's metrics call."""

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
    """Scores in the shape, type and structure of the inputs. All columns of a group, and pixels of a patch, have its score."""
    check.fitted(explainer)
    if isinstance(inputs, tuple):  # captum's metrics pass a tuple and expect one back
        check.one_input(len(inputs))
    rows, features = inputs[0] if isinstance(inputs, tuple) else inputs, explainer.features_
    scores = features.expand_scores(explainer.explain(features.from_array(rows)).scores)
    scores = scores.to(device=rows.device, dtype=rows.dtype if rows.is_floating_point() else torch.get_default_dtype())
    return (scores,) if isinstance(inputs, tuple) else scores


def to_quantus(explainer: Explainer, *, refit: Explainer | None = None) -> Callable[..., np.ndarray]:
    """Convert a fitted explainer to Quantus's `explain_func(model, inputs, targets)`, which returns scores of the shape of the inputs.

    An explainer explains the model of its fit. Quantus's randomisation metrics pass models with other weights and test whether
    explanations change. They change only with `refit`.

    Args:
        explainer: Fitted explainer.
        refit: Rows (n, d) to fit a copy of the explainer on, once per model with different weights. None: the fitted explainer is used for
            every model.
    """
    check.fitted(explainer)
    fits: dict[str, Explainer] = {}

    def explain_func(model: Model, inputs: RawRows, targets: Labels = None, **settings: Any) -> np.ndarray:  # noqa: ARG001  Quantus passes them by name
        """Scores of rows. Other arguments of Quantus (targets, device) have no effect on a selection."""
        chosen = explainer
        if refit is not None:
            key = digest(model.state_dict())  # one object can have several weights, and several objects the same weights
            if key not in fits:
                fits[key] = clone(explainer).fit(refit, model=model)
            chosen = fits[key]
        rows = np.array(as_array(inputs))
        scores: np.ndarray = chosen.attribute(torch.from_numpy(rows)).numpy()
        return scores.reshape(rows.shape)  # Quantus's localisation metrics need a channel axis: rows are (1, d)

    return explain_func
