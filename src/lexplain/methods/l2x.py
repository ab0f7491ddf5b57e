"""L2X."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..estimators import Pathwise
from ..imputers import Constant
from ..masks import ConcreteMax
from ..objectives import Likelihood
from ..predictors import Outputs
from .method import Method
from .parts import predictor_part, selector_part
from .sizes import Family, subset_size


def l2x(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    temperature: float = 0.1,
    spread: float | None = None,
) -> Method:
    """Pick the k features that let a jointly trained predictor match y.

    Args:
        features: what can be on or off.
        outputs: what is predicted.
        selector: a network of scores.
        predictor: a network, or a predictor.
        imputer: fills what is hidden.
        keep: how many features, or a rate; None: a third.
        penalty: refused, since the number kept is fixed.
        temperature: of the relaxed masks; the paper's 0.1 learns slowly where features are many.
        spread: standard deviation that the scores of a row are brought to; None: that of a U-Net is 2, others may grow as in the paper.

    Reference:
        Chen, Song, Wainwright and Jordan, Learning to Explain, 2018, section 3.
    """
    k = subset_size("l2x", features.count, keep, penalty)
    return Method(
        "l2x",
        features=features,
        selector=selector_part(selector, features, Family(ConcreteMax, {"k": k, "temperature": temperature}), spread=spread),
        estimator=Pathwise(),
        imputer=Constant(0.0) if imputer is None else imputer,
        predictor=predictor_part(predictor, features, outputs),
        objective=Likelihood(),
    )
