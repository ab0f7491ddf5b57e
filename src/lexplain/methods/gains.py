"""The default method."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from torch import nn

from .. import check
from ..estimators import MarginalGains, Reinforce
from ..imputers import IndependentGaussian
from ..masks import Bernoulli
from ..objectives import Likelihood
from ..predictors import Ensemble, Outputs, Trained
from ..selectors import MLP, Selector
from .method import Method
from .parts import predictor_part
from .rounds import Rounds, usual_rounds
from .screen import ENOUGH, LEAST, WIDE, blinkered
from .sizes import Family

MEMBERS = 4  # networks of the predictor
LESSONS = 3  # times as many with a thorough budget, each of which learns as much as one of four does,
MORE_ROUNDS = 2  # and so many more rounds


def gains(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    thorough: bool = False,
    plan: Rounds | None = None,
) -> Method:
    """Keep each feature that changes the prediction by more than its price when it is drawn anew.

    The selector regresses the gain of every feature in nats, so that a score is gain / (gain + price). From parts that the papers
    propose: LEX's imputation, outside the log; REAL-X's predictor that the selector cannot write to; their alternation is ours.
    """
    check.keep_or_penalty(keep, penalty, features.count)
    price = None if penalty is None else penalty / features.count
    draws = min(14, max(4, 160 // (features.count if features.count <= WIDE else ENOUGH)))
    rate = None if keep is None else keep / features.count if isinstance(keep, (int, np.integer)) else float(keep)
    network = selector if selector is not None else MLP(features.shape, features.count)
    if predictor is None:
        network = blinkered(network, features.shape, features.count, scores=True)
        ensemble = Ensemble(features.shape, outputs.count, members=MEMBERS * LESSONS if thorough else MEMBERS)
        predictor = Trained(blinkered(ensemble, features.shape, features.count, scores=False), outputs, sees_mask=False)
    rounds = usual_rounds(features.count) + MORE_ROUNDS if thorough else None
    k = int(keep) if isinstance(keep, (int, np.integer)) else None
    return Method(
        "gains",
        features=features,
        selector=Selector(network, Family(Bernoulli, {"k": k}), offset=-log(price or LEAST)),
        estimator=Reinforce(samples=1),  # a Method has one; gains are regressed, so that it is never asked
        imputer=IndependentGaussian() if imputer is None else imputer,
        predictor=predictor_part(predictor, features, outputs),
        objective=Likelihood(imputations_inside=False),
        plan=plan or Rounds(MarginalGains(draws=draws), rounds=rounds, lessons=LESSONS if thorough else 1, price=price, rate=rate),
    )
