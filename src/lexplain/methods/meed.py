"""MEED."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ..core import Trial
from ..estimators import Pathwise
from ..imputers import Constant
from ..masks import ConcreteMax
from ..objectives import Likelihood, PriorExplainer, cross_entropy
from ..predictors import BlackBox, Outputs
from .method import Method
from .parts import adversary_part, predictor_part, selector_part
from .sizes import Family, subset_size


def meed(
    features: Any,
    outputs: Outputs,
    *,
    selector: nn.Module | None = None,
    predictor: nn.Module | None = None,
    imputer: nn.Module | None = None,
    keep: float | None = None,
    penalty: float | None = None,
    temperature: float = 0.5,
    adversary_weight: float = 1.0,
) -> Method:
    """Pick the k features that tell the model's output while an adversary learns nothing from the rest.

    The selector sees the output beside the row, and starts from the scores |gradient x input| of the predictor.

    Reference:
        Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 3.
    """
    k = subset_size("meed", features.count, keep, penalty)
    selected = predictor_part(predictor, features, outputs)
    return Method(
        "meed",
        features=features,
        selector=selector_part(selector, features, Family(ConcreteMax, {"k": k, "temperature": temperature}), context=outputs.count),
        estimator=Pathwise(),
        imputer=Constant(0.0) if imputer is None else imputer,
        predictor=selected,
        objective=Likelihood(),
        adversary=(adversary_part(selected, features, outputs), adversary_weight),
        prior=None if isinstance(selected, BlackBox) else PriorExplainer(partial(gradient_times_input, selected, features)),
        reads_output=True,
    )


def gradient_times_input(predictor: nn.Module, features: Any, trial: Trial) -> Tensor:
    """|x . d cross-entropy / dx| of full rows, summed within each feature (b, d)."""
    with torch.enable_grad():
        x = trial.x.detach().requires_grad_()
        loss = cross_entropy(trial.target, predictor(x, torch.ones_like(x))).sum()
        (slope,) = torch.autograd.grad(loss, x)
    scores: Tensor = features.gather((x * slope).abs())
    return scores
