"""A fitted explainer as captum's `attribute`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from .. import check

if TYPE_CHECKING:
    from .explainer import Explainer


def attribute(explainer: Explainer, inputs: Tensor | tuple[Tensor, ...]) -> Any:
    """Scores in the shape, type and structure of the rows given; every column of a group, and pixel of a patch, has its score."""
    check.fitted(explainer)
    if isinstance(inputs, tuple):  # captum's metrics wrap what they are given, and expect it back wrapped
        check.one_input(len(inputs))
        return (attribute(explainer, inputs[0]),)
    features = explainer.features_
    rows: Any = check.as_array(inputs)
    if features.frame and rows.ndim == 2 and rows.shape[1] == len(features.labels):  # a model of DataFrames may be asked, too
        rows = pd.DataFrame(rows, columns=list(features.labels))
    scores = explainer.explain(rows).scores
    scores = features.laid_out(features.expand(scores)) if getattr(features, "images", False) else scores[:, list(features.owners)]
    return scores.to(device=inputs.device, dtype=inputs.dtype if inputs.is_floating_point() else torch.get_default_dtype())
