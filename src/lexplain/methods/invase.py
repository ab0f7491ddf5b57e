"""INVASE."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..estimators import Reinforce
from ..imputers import Constant
from ..objectives import Likelihood
from ..predictors import Outputs
from .method import Method
from .parts import fresh_copy, predictor_part, selector_part
from .sizes import coins


def invase(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    warmup: float = 0.6,
    decay: float = 0.2,
    spread: float | None = None,
) -> Method:
    """Pick the fewest features that a critic trained on these picks predicts as well from as a baseline does from all.

    Beyond the paper, the price rises over `warmup` of the training, so that features that matter only together are still there when the
    critic knows them; weights decay by `decay`, which keeps the selector's scores from saturating; and networks are smooth (SiLU).

    Scores of a row can be brought to a standard deviation (`spread`); None: 2 where a U-Net makes them, else they may grow.

    Reference:
        Yoon, Jordon and van der Schaar, INVASE: Instance-wise Variable Selection using Neural Networks, 2019, section 4.
    """
    penalty = 0.1 if keep is None and penalty is None else penalty
    family, penalties = coins(features.count, keep, penalty, temperature=0.5, warmup=warmup)
    critic = predictor_part(predictor, features, outputs, activation=nn.SiLU)
    return Method(
        "invase",
        features=features,
        selector=selector_part(selector, features, family, activation=nn.SiLU, spread=spread),
        estimator=Reinforce(samples=1),
        imputer=Constant(0.0) if imputer is None else imputer,
        predictor=critic,
        objective=Likelihood(),
        penalties=penalties,
        baseline=fresh_copy(critic),
        decay=decay,
    )
