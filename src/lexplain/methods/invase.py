"""INVASE."""

from __future__ import annotations

from torch import nn

from ..core import Outputs
from ..core.contracts import Features
from ..estimators import Reinforce
from ..imputers import Constant
from ..objectives import Objective
from .method import Method
from .parts import Parts, predictor_part, reinitialised_copy, selector_part
from .plans import Turns
from .recipe import recipe
from .sizes import Size, bernoulli_masks


@recipe(sized_by="price", size=0.1)
def invase(
    features: Features,
    outputs: Outputs,
    parts: Parts,
    *,
    size: Size,
    warmup: float = 0.6,
    decay: float = 0.2,
    spread: float | None = None,
) -> Method:
    """Keep the fewest features from which a critic predicts as well as a baseline network does from all.

    The critic is trained on the selected features. Three things differ from the paper. The price rises over the share `warmup` of the
    training, so that features that matter only together are not dropped early. Weight decay (`decay`) keeps the selector's scores from
    saturating. Networks are smooth (SiLU).

    `spread` sets the standard deviation of the scores of a row. None: 2 for a U-Net, otherwise unlimited.

    Reference:
        Yoon, Jordon and van der Schaar, INVASE: Instance-wise Variable Selection using Neural Networks, 2019, section 4.
    """
    family, penalties = bernoulli_masks(features.count, size, temperature=0.5, warmup=warmup)
    critic = predictor_part(parts.predictor, features, outputs, activation=nn.SiLU)
    return Method(
        "invase",
        features=features,
        selector=selector_part(parts.selector, features, family, activation=nn.SiLU, spread=spread),
        imputer=parts.imputer_or(Constant(0.0)),
        predictor=critic,
        objective=Objective(penalties=penalties, mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(Reinforce(samples=1), baseline=reinitialised_copy(critic), decay=decay)),
    )
