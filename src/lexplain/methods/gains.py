"""The default method for tables."""

from __future__ import annotations

from math import log

from torch import nn

from ..core import Outputs
from ..core.contracts import Features
from ..core.kinds import kind_of
from ..estimators import MarginalGains
from ..imputers import IndependentGaussian
from ..masks import Bernoulli
from ..models import Trained
from ..networks import Selector
from ..objectives import Likelihood, Objective
from .method import Method
from .parts import Parts, predictor_part
from .plans import MIN_GAIN, Rounds
from .plans.rounds import default_rounds
from .plans.screen import SCREENED_FROM, SCREENED_TO, add_screen
from .recipe import recipe
from .sizes import MaskFactory, Size

PRICE = 0.0055  # nats that a feature has to be worth, by default, when labels are explained
MEMBERS = 4  # networks of the predictor
THOROUGH_MEMBERS = 3  # times as many networks with a thorough budget, each trained as long as one of four
THOROUGH_ROUNDS = 2  # additional rounds with a thorough budget


@recipe(sized_by="path", imputer="by kind", supports_mask_costs=False, supports_thorough=True)
def gains(features: Features, outputs: Outputs, parts: Parts, *, size: Size, plan: Rounds | None = None) -> Method:
    """Keep every feature whose gain exceeds its price. The selector predicts each gain in nats; a score is gain / (gain + price).

    Imputation is that of LEX, outside the log. As in REAL-X, masks cannot encode the prediction for the predictor. Training alternates
    between the two, which is specific to this method.
    """
    price = None if size.penalty is None else size.penalty / features.count
    draws = min(14, max(4, 160 // (features.count if features.count <= SCREENED_FROM else SCREENED_TO)))
    kind, predictor, network = kind_of(features), parts.predictor, parts.selector
    if network is None:
        network = (kind.regressor or kind.selector)(features, context=0, activation=nn.SiLU)
    if predictor is None:
        network = add_screen(network, features, scores=True)
        if kind.ensemble is None:
            ensemble = kind.predictor(features, outputs.count, sees_mask=False)
        else:
            ensemble = kind.ensemble(features, outputs.count, members=MEMBERS * THOROUGH_MEMBERS if parts.thorough else MEMBERS)
        predictor = Trained(add_screen(ensemble, features, scores=False), outputs, sees_mask=False)
    if plan is None:
        rounds = default_rounds(features.count) + THOROUGH_ROUNDS if parts.thorough else None
        members = THOROUGH_MEMBERS if parts.thorough else 1
        rate = size.as_rate(features.count)
        plan = Rounds(MarginalGains(draws=draws), rounds=rounds, members_per_row=members, price=price, rate=rate)
    return Method(
        "gains",
        features=features,
        selector=Selector(network, MaskFactory(Bernoulli, {"k": size.k}), offset=-log(price or MIN_GAIN)),
        imputer=parts.imputer_or(IndependentGaussian()),
        predictor=predictor_part(predictor, features, outputs),
        objective=Objective(Likelihood(imputations_inside=False)),
        plan=parts.apply_regime(plan),
    )
