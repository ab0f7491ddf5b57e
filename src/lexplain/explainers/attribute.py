"""A fitted explainer as captum's `attribute`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .. import check

if TYPE_CHECKING:
    from .explainer import Explainer


def attribute(explainer: Explainer, inputs: Tensor | tuple[Tensor, ...]) -> Tensor | tuple[Tensor, ...]:
    """Scores in the shape, type and structure of the rows given; every column of a group, and pixel of a patch, has its score."""
    check.fitted(explainer)
    if isinstance(inputs, tuple):  # captum's metrics wrap what they are given, and expect it back wrapped
        check.one_input(len(inputs))
        return (_attribute(explainer, inputs[0]),)
    return _attribute(explainer, inputs)


def _attribute(explainer: Explainer, inputs: Tensor) -> Tensor:
    features = explainer.features_
    scores = features.on_inputs(explainer.explain(features.from_array(inputs)).scores)
    return scores.to(device=inputs.device, dtype=inputs.dtype if inputs.is_floating_point() else torch.get_default_dtype())
