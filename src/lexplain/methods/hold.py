"""The default method for images."""

from __future__ import annotations

from typing import Any

from torch import nn

from .. import check
from ..estimators import Reinforce, StraightThrough
from ..imputers import IndependentGaussian
from ..masks import TopK, UniformRate
from ..objectives import Likelihood
from ..predictors import Outputs
from ..selectors import Selector
from .method import Method
from .parts import predictor_part, selector_network
from .sizes import Family, subset_size

RATE = 0.1  # share of the features that is kept unless told


def hold(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    temperature: float = 1.0,
    own_share: float = 0.5,
    spread: float | None = 4.0,
    last: float = 0.2,
    estimator: Any = None,
) -> Method:
    """Keep the k features under which the prediction holds whatever the others are.

    LEX with one imputation a mask, which is outside the log: a lucky average of predictions is worth nothing. The predictor also learns
    from masks of every size, so that the selector cannot write to it; once the selector is finished, it learns to read what was kept.

    Args:
        features: what can be on or off.
        outputs: what is predicted.
        selector: a network of scores.
        predictor: a network, or a predictor.
        imputer: fills what is hidden; an `Explainer` draws it from other rows unless told.
        keep: how many features, or a rate; None: a tenth.
        penalty: refused, since the number kept is fixed.
        temperature: of the relaxed masks that carry gradients.
        own_share: share of the rows on which the predictor learns from the selector's masks.
        spread: standard deviation of the scores of a row; None: they may grow.
        last: share of the training in which the predictor alone learns, from the masks of the finished selector.
        estimator: how the selector learns from the cost of masks.

    Reference:
        Senetaire, Garreau, Frellsen and Mattei, Explainability as Statistical Inference, 2023, equations 5 and 6 with L = K = 1.
    """
    check.within(0.0, 1.0, own_share=own_share)
    check.within(0.0, 0.9, last=last)  # a selector that never learns says nothing
    k = subset_size("hold", features.count, RATE if keep is None and penalty is None else keep, penalty)
    part = predictor_part(predictor, features, outputs, sees_mask=False)
    if estimator is None:
        estimator = StraightThrough() if getattr(part, "differentiable", True) else Reinforce(samples=4)
    return Method(
        "hold",
        features=features,
        selector=Selector(selector_network(selector, features), Family(TopK, {"k": k, "temperature": temperature}), spread=spread),
        estimator=estimator,
        imputer=IndependentGaussian() if imputer is None else imputer,
        predictor=part,
        objective=Likelihood(imputations_inside=False),
        predictor_masks=UniformRate,
        own_share=own_share,
        predictor_last=last,
        together=True,
    )
