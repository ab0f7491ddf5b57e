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
    """Keep the fewest features from which a predictor trained on random masks predicts the target.

    Unlike in the paper, the price rises over the share `warmup` of the training, and there is weight decay (`decay`). Networks use ReLU
    as in the paper. The paper's gradient is REBAR (`estimator=Rebar()`). The default, four samples with leave-one-out baselines, has
    the same mean.

    Args:
        features: Fitted features.
        outputs: Type of the predictions.
        parts: Networks, imputer and regime supplied by the user.
        size: Cost in nats of keeping all features (lambda), or how much to keep.
        temperature: Temperature of relaxed masks, for estimators that use them.
        warmup: Share of the training over which the price rises.
        decay: Weight decay.
        spread: Standard deviation of the scores of a row. None: 2 for a U-Net, otherwise unlimited.
        estimator: Turns the cost of masks into gradients of the selector.

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
