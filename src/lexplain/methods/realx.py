"""REAL-X."""

from __future__ import annotations

from ..core import Outputs
from ..core.contracts import Estimator, Features
from ..estimators import Reinforce
from ..imputers import Constant
from ..masks import FixedRate
from ..objectives import Objective
from .method import Method
from .parts import Parts, predictor_part, selector_part
from .plans import PredictorSchedule, Turns
from .recipe import recipe
from .sizes import Size, bernoulli_masks


@recipe(sized_by="price", size=0.1)
def realx(
    features: Features,
    outputs: Outputs,
    parts: Parts,
    *,
    size: Size,
    temperature: float = 0.1,
    warmup: float = 0.6,
    decay: float = 0.1,
    spread: float | None = None,
    estimator: Estimator | None = None,
) -> Method:
    """Pick the fewest features that let a predictor trained on random masks say y: its masks cannot carry the answer.

    Beyond the paper, the price rises over `warmup` of the training and weights decay by `decay`. Networks are the paper's, of ReLU.
    The paper's gradient is REBAR (`estimator=Rebar()`). The default, four samples with leave-one-out baselines, has the same mean.

    Args:
        features: what can be on or off.
        outputs: what is predicted.
        parts: what the user brings.
        size: lambda, the price of keeping every feature, or how much to keep.
        temperature: of relaxed masks, where the estimator uses them.
        warmup: share of the training over which the price rises.
        decay: weight decay.
        spread: standard deviation of the scores of a row; None: 2 where a U-Net makes them, else they may grow.
        estimator: how the selector learns from the cost of masks.

    Reference:
        Jethani et al., Have We Learned to Explain?: How Interpretability Methods Can Learn to Encode Predictions in their
        Interpretations, 2021, section 5, algorithm 1.
    """
    family, penalties = bernoulli_masks(features.count, size, temperature=temperature, warmup=warmup)
    return Method(
        "realx",
        features=features,
        selector=selector_part(parts.selector, features, family, spread=spread),
        imputer=parts.imputer_or(Constant(0.0)),
        predictor=predictor_part(parts.predictor, features, outputs),
        objective=Objective(penalties=penalties, mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(estimator or Reinforce(samples=4), PredictorSchedule(masks=FixedRate), decay=decay)),
    )
