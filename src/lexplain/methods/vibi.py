"""VIBI."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..estimators import Pathwise
from ..imputers import Constant
from ..masks import ConcreteMax
from ..objectives import Likelihood, ToUniform
from ..predictors import Outputs
from .method import Method
from .parts import predictor_part, selector_part
from .sizes import Family, subset_size


def vibi(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    temperature: float = 0.1,
    compression: float = 0.01,
) -> Method:
    """Pick the k features that tell most about y while the pick tells little about x: L2X with an information bottleneck.

    Args:
        features: what can be on or off.
        outputs: what is predicted.
        selector: a network of scores.
        predictor: a network, or a predictor.
        imputer: fills what is hidden.
        keep: k, or a rate.
        penalty: has no meaning here and is refused; the price of information is `compression`.
        temperature: of the relaxed masks.
        compression: beta, the price of a nat that the mask tells about x.

    Reference:
        Bang et al., Explaining a Black-Box by Using a Deep Variational Information Bottleneck Approach, 2021, equation 8.
    """
    k = subset_size("vibi", features.count, keep, penalty)
    return Method(
        "vibi",
        features=features,
        selector=selector_part(selector, features, Family(ConcreteMax, {"k": k, "temperature": temperature})),
        estimator=Pathwise(),
        imputer=Constant(0.0) if imputer is None else imputer,
        predictor=predictor_part(predictor, features, outputs),
        objective=Likelihood(),
        penalties=[ToUniform(compression)],
    )
