"""BASE-X."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..estimators import Rebar
from ..imputers import Constant
from ..objectives import Likelihood
from ..predictors import Outputs
from ..selectors import Selector
from .method import Method
from .parts import predictor_part, selector_network
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
    estimator: Any = None,
) -> Method:
    """Pick the fewest features that let a predictor, trained on these very picks, say y: REAL-X without its safeguard.

    Reference:
        Jethani et al., Have We Learned to Explain?, 2021, section 6 and appendix E.
    """
    penalty = 0.15 if keep is None and penalty is None else penalty
    family, penalties = coins(features.count, keep, penalty, temperature=temperature)
    return Method(
        "basex",
        features=features,
        selector=Selector(selector_network(selector, features), family),
        estimator=estimator or Rebar(),
        imputer=imputer or Constant(0.0),
        predictor=predictor_part(predictor, features, outputs),
        objective=Likelihood(),
        penalties=penalties,
    )
