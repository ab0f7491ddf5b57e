"""VIBI."""

from __future__ import annotations

from ..core import Outputs
from ..core.contracts import Features
from ..estimators import Pathwise
from ..imputers import Constant
from ..masks import ConcreteMax
from ..objectives import Objective, ToUniform
from .method import Method
from .parts import Parts, predictor_part, selector_part
from .plans import Turns
from .recipe import THIRD, recipe
from .sizes import MaskFactory


@recipe(sized_by="k", size=THIRD)
def vibi(features: Features, outputs: Outputs, parts: Parts, *, k: int, temperature: float = 0.1, compression: float = 0.01) -> Method:
    """L2X with an information bottleneck: the mask carries little information about the row.

    Args:
        features: Fitted features.
        outputs: Type of the predictions.
        parts: Networks, imputer and regime supplied by the user.
        k: Number of features to keep; by default a third of them.
        temperature: Temperature of the relaxed masks.
        compression: Cost per nat of information that the mask carries about the row (beta).

    Reference:
        Bang et al., Explaining a Black-Box by Using a Deep Variational Information Bottleneck Approach, 2021, equation 8.
    """
    return Method(
        "vibi",
        features=features,
        selector=selector_part(parts.selector, features, MaskFactory(ConcreteMax, {"k": k, "temperature": temperature})),
        imputer=parts.imputer_or(Constant(0.0)),
        predictor=predictor_part(parts.predictor, features, outputs),
        objective=Objective(penalties=(ToUniform(compression),), mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(Pathwise())),
    )
