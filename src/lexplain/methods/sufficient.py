"""The default method for images."""

from __future__ import annotations

import numpy as np

from ..core import Outputs
from ..core.contracts import Estimator, Features
from ..core.kinds import kind_of
from ..estimators import Reinforce, StraightThrough
from ..imputers import IndependentGaussian
from ..masks import RandomMasks, TopK, UniformRate
from ..networks import Selector
from ..objectives import Likelihood, Objective
from .method import Method
from .parts import Parts, predictor_part
from .plans import PredictorSchedule, Together
from .recipe import recipe
from .sizes import MaskFactory


@recipe(sized_by="k", size=0.1, imputer="by kind", joint_training_options=("own_share", "last", "masks"))
def sufficient(
    features: Features,
    outputs: Outputs,
    parts: Parts,
    *,
    k: int,
    temperature: float = 1.0,
    own_share: float = 0.5,
    spread: float | None = 4.0,
    last: float = 0.2,
    masks: RandomMasks = UniformRate,
    estimator: Estimator | None = None,
) -> Method:
    """Keep the k features that suffice: with them the prediction holds whatever the others are.

    LEX with one imputation a mask, which is outside the log: a lucky average of predictions is worth nothing. The predictor also learns
    from masks of every size, so that the selector cannot write to it; once the selector is finished, it learns to read what was kept.

    Args:
        features: what can be on or off.
        outputs: what is predicted.
        parts: what the user brings.
        k: how many features; a tenth of them unless told.
        temperature: of the relaxed masks that carry gradients.
        own_share: share of the rows on which the predictor learns from the selector's masks.
        spread: standard deviation of the scores of a row; None: they may grow.
        last: share of the training in which the predictor alone learns, from the masks of the finished selector.
        masks: what else it learns from: masks of every size unless told.
        estimator: how the selector learns from the cost of masks.

    Reference:
        Senetaire, Garreau, Frellsen and Mattei, Explainability as Statistical Inference, 2023, equations 5 and 6 with L = K = 1.
    """
    _refuse_outside(1.0, own_share=own_share)
    _refuse_outside(0.9, last=last)  # a selector that never learns says nothing
    predictor = predictor_part(parts.predictor, features, outputs, sees_mask=False)
    network = parts.selector if parts.selector is not None else kind_of(features).selector(features, context=0)
    if estimator is None:
        estimator = StraightThrough() if getattr(predictor, "differentiable", True) else Reinforce(samples=4)
    return Method(
        "sufficient",
        features=features,
        selector=Selector(network, MaskFactory(TopK, {"k": k, "temperature": temperature}), spread=spread),
        imputer=parts.imputer_or(IndependentGaussian()),
        predictor=predictor,
        objective=Objective(Likelihood(imputations_inside=False), mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Together(estimator, PredictorSchedule(masks=masks, own_share=own_share, last=last))),
    )


def _refuse_outside(high: float, **shares: float) -> None:
    for name, value in shares.items():
        if not (isinstance(value, (int, float, np.number)) and 0 <= value <= high):
            raise ValueError(f"{name}={value!r}, but a number from 0 to {high:g} is needed")
