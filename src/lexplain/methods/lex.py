"""LEX."""

from __future__ import annotations

from torch import nn

from ..core import Outputs
from ..core.contracts import Estimator, Features
from ..estimators import Reinforce, StraightThrough
from ..imputers import IndependentGaussian
from ..masks import TopK
from ..objectives import Likelihood, Objective
from .method import Method
from .parts import Parts, predictor_part, selector_part
from .plans import PredictorSchedule, Turns
from .recipe import THIRD, recipe
from .sizes import MaskFactory


@recipe(sized_by="k", size=THIRD)
def lex(
    features: Features,
    outputs: Outputs,
    parts: Parts,
    *,
    k: int,
    temperature: float = 0.5,
    decay: float = 0.3,
    objective: Likelihood | None = None,
    estimator: Estimator | None = None,
    schedule: PredictorSchedule = PredictorSchedule(),
) -> Method:
    """Keep the k features that predict the target best when the others are imputed at random.

    One mask and four imputations per row, averaged inside the log. `objective=Likelihood(imputations=4, imputations_inside=False)`
    averages outside it, and `Likelihood(masks=10)` is the paper's bound. Gradients are straight-through, or REINFORCE for a black box.
    `schedule=PredictorSchedule(masks=FixedRate)` trains the predictor on random masks: LEX's surrogate imputation.

    Reference:
        Senetaire, Garreau, Frellsen and Mattei, Explainability as Statistical Inference, 2023, equations 5 and 6, appendix D.
    """
    predictor = predictor_part(parts.predictor, features, outputs, sees_mask=False, activation=nn.SiLU)
    if estimator is None:
        estimator = StraightThrough() if getattr(predictor, "differentiable", True) else Reinforce(samples=4)
    return Method(
        "lex",
        features=features,
        selector=selector_part(parts.selector, features, MaskFactory(TopK, {"k": k, "temperature": temperature}), activation=nn.SiLU),
        imputer=parts.imputer_or(IndependentGaussian()),
        predictor=predictor,
        objective=Objective(objective or Likelihood(imputations=4), mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(estimator, schedule, decay=decay)),
    )
