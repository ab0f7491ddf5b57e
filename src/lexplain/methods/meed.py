"""MEED."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ..core import Batch, Outputs
from ..core.contracts import Features, Predictor
from ..estimators import Pathwise
from ..imputers import Constant
from ..masks import ConcreteMax
from ..models import BlackBox
from ..objectives import Objective, PriorExplainer, cross_entropy
from .method import Method
from .parts import Parts, adversary_part, predictor_part, selector_part
from .plans import Adversary, Turns
from .recipe import THIRD, recipe
from .sizes import MaskFactory


@recipe(sized_by="k", size=THIRD, reads_output=True)
def meed(features: Features, outputs: Outputs, parts: Parts, *, k: int, temperature: float = 0.5, adversary_weight: float = 1.0) -> Method:
    """Keep k features that determine the model's output while an adversary cannot predict it from the others.

    The selector reads the output in addition to the row. It starts from the scores |gradient x input| of the predictor.

    Reference:
        Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 3.
    """
    selected = predictor_part(parts.predictor, features, outputs)
    family = MaskFactory(ConcreteMax, {"k": k, "temperature": temperature})
    selector = selector_part(parts.selector, features, family, context=outputs.count)
    adversary = Adversary(adversary_part(selected, features, outputs), adversary_weight)
    prior = None if isinstance(selected, BlackBox) else PriorExplainer(partial(gradient_times_input, selected, features))
    return Method(
        "meed",
        features=features,
        selector=selector,
        imputer=parts.imputer_or(Constant(0.0)),
        predictor=selected,
        objective=Objective(mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(Pathwise(), adversary=adversary, prior=prior)),
    )


def gradient_times_input(predictor: Predictor, features: Features, batch: Batch) -> Tensor:
    """|x . d cross-entropy / dx| (b, d) of full rows, summed per feature."""
    with torch.enable_grad():
        x = batch.x.detach().requires_grad_()
        loss = cross_entropy(batch.target, predictor(x, torch.ones_like(x))).sum()
        (gradient,) = torch.autograd.grad(loss, x)
    return features.gather((x * gradient).abs())
