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
    """Keep the k features with which the prediction holds whatever the others are.

    LEX with one imputation per mask, outside the log, so that averaging over imputations cannot hide wrong predictions. The predictor is
    also trained on masks of all sizes, so that masks cannot encode the prediction. Once the selector is trained, the predictor is
    trained on its masks.

    Args:
        features: Fitted features.
        outputs: Type of the predictions.
        parts: Networks, imputer and regime supplied by the user.
        k: Number of features to keep; by default a tenth of them.
        temperature: Temperature of the relaxed masks that carry gradients.
        own_share: Share of the rows on which the predictor is trained on the selector's masks.
        spread: Standard deviation of the scores of a row. None: unlimited.
        last: Share of the training, at the end, in which only the predictor is trained, on the masks of the finished selector.
        masks: Other masks to train the predictor on; by default of all sizes.
        estimator: Turns the cost of masks into gradients of the selector.

    Reference:
        Senetaire, Garreau, Frellsen and Mattei, Explainability as Statistical Inference, 2023, equations 5 and 6 with L = K = 1.
    """
    _check_shares(1.0, own_share=own_share)
    _check_shares(0.9, last=last)  # the selector needs some of the training
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


def _check_shares(high: float, **shares: float) -> None:
    for name, value in shares.items():
        if not (isinstance(value, (int, float, np.number)) and 0 <= value <= high):
            raise ValueError(f"{name} must be a number from 0 to {high:g}, got {value!r}.")
