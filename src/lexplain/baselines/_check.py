"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

NOT_ADDITIVE = (
    "deepshap's values do not add up to the network's answer: shap has no rule for one of its layers (it knows linear ones, pooling, ReLU, "
    "GELU, Sigmoid, Tanh and Softplus, each used once); choose integrated_gradients or shap, which need no rules"
)


def baseline_given(name: str, needs: Sequence[str], y: Any, model: Any) -> None:
    """Refuse to fit a baseline without what it explains."""
    if "network" in needs and not isinstance(model, torch.nn.Module):
        got = "none was given" if model is None else f"the model is a {type(model).__name__}"
        raise TypeError(
            f"{name} needs gradients, which a torch.nn.Module has, but {got}; pass fit(X, model=network), "
            "or choose a baseline that only asks the model, such as shap, lime or ablation"
        )
    if "model" in needs and model is None and not ("y" in needs and y is not None):
        also = " or labels" if "y" in needs else ""
        raise ValueError(
            f"{name} explains a model{also}, but none was given; pass fit(X, model=...), such as a classifier fitted to X and y"
        )


def no_trees(model: Any, why: Exception) -> TypeError:
    """Word the refusal of a model that is not made of trees."""
    return TypeError(
        f"treeshap reads trees, but shap finds none in a {type(model).__name__} ({str(why)[:80]}); give a forest or boosted trees, "
        "or choose shap, which asks any model"
    )


def baseline_explains(name: str, kind: str, kinds: Sequence[str] | None) -> None:
    """Refuse a kind of features that a baseline does not explain."""
    if kinds is not None and kind not in kinds:
        raise ValueError(f"{name} explains features of kind {', '.join(kinds)}, not {kind}; choose another baseline, such as 'random'")
