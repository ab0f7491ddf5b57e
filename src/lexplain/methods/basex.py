"""BASE-X."""

from __future__ import annotations

from torch import nn

from ..core import Outputs
from ..core.contracts import Estimator, Features
from ..estimators import Rebar
from ..imputers import Constant
from ..objectives import Objective
from .method import Method
from .parts import Parts, predictor_part, selector_part
from .plans import Turns
from .recipe import recipe
from .sizes import Size, bernoulli_masks


@recipe(sized_by="price", size=0.15)
def basex(
    features: Features,
    outputs: Outputs,
    parts: Parts,
    *,
    size: Size,
    temperature: float = 0.1,
    warmup: float = 0.6,
    decay: float = 0.2,
    spread: float | None = None,
    estimator: Estimator | None = None,
) -> Method:
    """REAL-X with a predictor trained on the selector's masks.

    Unlike in the paper, the price rises over the share `warmup` of the training, and there is weight decay (`decay`), as in `invase`.

    `spread` sets the standard deviation of the scores of a row. None: 2 for a U-Net, otherwise unlimited.

    Reference:
        Jethani et al., Have We Learned to Explain?, 2021, section 6 and appendix E.
    """
    family, penalties = bernoulli_masks(features.count, size, temperature=temperature, warmup=warmup)
    return Method(
        "basex",
        features=features,
        selector=selector_part(parts.selector, features, family, activation=nn.SiLU, spread=spread),
        imputer=parts.imputer_or(Constant(0.0)),
        predictor=predictor_part(parts.predictor, features, outputs, activation=nn.SiLU),
        objective=Objective(penalties=penalties, mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(estimator or Rebar(), decay=decay)),
    )
