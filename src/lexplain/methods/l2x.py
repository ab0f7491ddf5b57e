"""L2X."""

from __future__ import annotations

from ..core import Outputs
from ..core.contracts import Features
from ..estimators import Pathwise
from ..imputers import Constant
from ..masks import ConcreteMax
from ..objectives import Objective
from .method import Method
from .parts import Parts, predictor_part, selector_part
from .plans import Turns
from .recipe import THIRD, recipe
from .sizes import MaskFactory


@recipe(sized_by="k", size=THIRD)
def l2x(features: Features, outputs: Outputs, parts: Parts, *, k: int, temperature: float = 0.1, spread: float | None = None) -> Method:
    """Keep k features from which a jointly trained predictor predicts the target.

    Args:
        features: Fitted features.
        outputs: Type of the predictions.
        parts: Networks, imputer and regime supplied by the user.
        k: Number of features to keep; by default a third of them.
        temperature: Temperature of the relaxed masks. With many features, the paper's 0.1 trains slowly.
        spread: Standard deviation of the scores of a row. None: 2 for a U-Net, otherwise unlimited as in the paper.

    Reference:
        Chen, Song, Wainwright and Jordan, Learning to Explain, 2018, section 3.
    """
    return Method(
        "l2x",
        features=features,
        selector=selector_part(parts.selector, features, MaskFactory(ConcreteMax, {"k": k, "temperature": temperature}), spread=spread),
        imputer=parts.imputer_or(Constant(0.0)),
        predictor=predictor_part(parts.predictor, features, outputs),
        objective=Objective(mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(Pathwise())),
    )
