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
    """Pick the k features that tell most about y while the pick tells little about x: L2X with an information bottleneck.

    Args:
        features: what can be on or off.
        outputs: what is predicted.
        parts: what the user brings.
        k: how many features; a third of them unless told.
        temperature: of the relaxed masks.
        compression: beta, the price of a nat that the mask tells about x.

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
