"""REAL-X."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..estimators import Reinforce
from ..imputers import Constant
from ..masks import Coins
from ..objectives import Likelihood
from ..predictors import Outputs
from .method import Method
from .parts import predictor_part, selector_part
from .sizes import coins


def realx(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    temperature: float = 0.1,
    warmup: float = 0.6,
    decay: float = 0.1,
    spread: float | None = None,
    estimator: Any = None,
) -> Method:
    """Pick the fewest features that let a predictor trained on random masks say y: its masks cannot carry the answer.

    Beyond the paper, the price rises over `warmup` of the training and weights decay by `decay`. Networks are the paper's, of ReLU.
    The paper's gradient is REBAR (`estimator=Rebar()`). The default, four samples with leave-one-out baselines, has the same mean.

    Args:
        features: what can be on or off.
        outputs: what is predicted.
        selector: a network of scores.
        predictor: a network, or a predictor.
        imputer: fills what is hidden.
        keep: how many features, or a rate; instead of a penalty.
        penalty: lambda, the price of keeping every feature.
        temperature: of relaxed masks, where the estimator uses them.
        warmup: share of the training over which the price rises.
        decay: weight decay.
        spread: standard deviation of the scores of a row; None: 2 where a U-Net makes them, else they may grow.
        estimator: how the selector learns from the cost of masks.

    Reference:
        Jethani et al., Have We Learned to Explain?: How Interpretability Methods Can Learn to Encode Predictions in their
        Interpretations, 2021, section 5, algorithm 1.
    """
    penalty = 0.1 if keep is None and penalty is None else penalty
    family, penalties = coins(features.count, keep, penalty, temperature=temperature, warmup=warmup)
    return Method(
        "realx",
        features=features,
        selector=selector_part(selector, features, family, spread=spread),
        estimator=estimator or Reinforce(samples=4),
        imputer=Constant(0.0) if imputer is None else imputer,
        predictor=predictor_part(predictor, features, outputs),
        objective=Likelihood(),
        penalties=penalties,
        predictor_masks=Coins,
        decay=decay,
    )
