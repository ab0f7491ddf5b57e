"""LEX."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..estimators import Reinforce, StraightThrough
from ..imputers import IndependentGaussian
from ..masks import TopK
from ..objectives import Likelihood
from ..predictors import Outputs
from .method import Method
from .parts import predictor_part, selector_part
from .sizes import Family, subset_size


def lex(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    temperature: float = 0.5,
    decay: float = 0.3,
    objective: Likelihood | None = None,
    estimator: Any = None,
) -> Method:
    """Pick the k features from which y is likely however the others are imputed.

    One mask and four imputations a row, averaged inside the log; `objective=Likelihood(imputations=4, imputations_inside=False)` averages
    outside it, and `Likelihood(masks=10)` is the paper's bound. Gradients are straight-through, or REINFORCE for a black box.

    Reference:
        Senetaire, Garreau, Frellsen and Mattei, Explainability as Statistical Inference, 2023, equations 5 and 6, appendix D.
    """
    k = subset_size("lex", features.count, keep, penalty)
    part = predictor_part(predictor, features, outputs, sees_mask=False, activation=nn.SiLU)
    if estimator is None:
        estimator = StraightThrough() if getattr(part, "differentiable", True) else Reinforce(samples=4)
    return Method(
        "lex",
        features=features,
        selector=selector_part(selector, features, Family(TopK, {"k": k, "temperature": temperature}), activation=nn.SiLU),
        estimator=estimator,
        imputer=IndependentGaussian() if imputer is None else imputer,
        predictor=part,
        objective=objective or Likelihood(imputations=4),
        decay=decay,
    )
