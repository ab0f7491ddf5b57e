"""BASE-X."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..estimators import Rebar
from ..imputers import Constant
from ..objectives import Likelihood
from ..predictors import Outputs
from .method import Method
from .parts import predictor_part, selector_part
from .sizes import coins


def basex(
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
    decay: float = 0.2,
    spread: float | None = None,
    estimator: Any = None,
) -> Method:
    """Pick the fewest features that let a predictor, trained on these very picks, say y: REAL-X without its safeguard.

    Beyond the paper, the price rises over `warmup` of the training and weights decay by `decay`, as in `invase`.

    Scores of a row can be brought to a standard deviation (`spread`); None: 2 where a U-Net makes them, else they may grow.

    Reference:
        Jethani et al., Have We Learned to Explain?, 2021, section 6 and appendix E.
    """
    penalty = 0.15 if keep is None and penalty is None else penalty
    family, penalties = coins(features.count, keep, penalty, temperature=temperature, warmup=warmup)
    return Method(
        "basex",
        features=features,
        selector=selector_part(selector, features, family, activation=nn.SiLU, spread=spread),
        estimator=estimator or Rebar(),
        imputer=Constant(0.0) if imputer is None else imputer,
        predictor=predictor_part(predictor, features, outputs, activation=nn.SiLU),
        objective=Likelihood(),
        penalties=penalties,
        decay=decay,
    )
