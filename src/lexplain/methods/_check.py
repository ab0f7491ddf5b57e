"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import check


def no_penalty(name: str, penalty: Any) -> None:
    """Refuse a price where the number of features kept is fixed."""
    if penalty is not None:
        raise ValueError(f"{name} keeps a fixed number of features and has no penalty; give keep instead")


def kind_explained(name: str, kind: str, kinds: Sequence[str] | None) -> None:
    """Refuse a kind of features that a method does not explain."""
    if kinds is not None and kind not in kinds:
        raise ValueError(f"method {name!r} explains features of kind {', '.join(kinds)}, not {kind}; choose another method")


def estimator_fits(estimator: Any, p: Any, predictor: Any, imputer: Any) -> None:
    """Refuse an estimator that asks more of the masks, the predictor or the imputer than they can do."""
    name, kind = type(estimator).__name__, type(p).__name__
    if not hasattr(estimator, "needs"):
        raise TypeError(f"estimator={estimator!r}, but an object of `lexplain.estimators` is needed, such as Reinforce()")
    if not hasattr(p, estimator.needs):
        raise TypeError(
            f"{name} needs a mask distribution with `{estimator.needs}`, which {kind} has not; "
            "choose an estimator that needs less, such as Pathwise (`relaxed`) or Reinforce (`draw`)"
        )
    if estimator.needs_gradient and not getattr(predictor, "differentiable", True):
        raise TypeError(f"{name} needs gradients through the predictor, which a black box has not; choose Reinforce, or regime='surrogate'")
    if getattr(estimator, "needs_smooth", False) and not getattr(imputer, "smooth", True):
        raise TypeError(
            f"{name} is unbiased only where filled values move smoothly with a soft mask, but {type(imputer).__name__} chooses by it "
            "what to fill in; choose Reinforce or StraightThrough, or an imputer such as Constant, Marginal or IndependentGaussian"
        )


def logits_fit(logits: Tensor, shape: tuple[int, int]) -> None:
    """Refuse a selector network whose output is not one score a feature."""
    if tuple(logits.shape) != shape:
        raise ValueError(
            f"the selector network returned shape {tuple(logits.shape)} for {shape[0]} rows, "
            f"but one score for each of {shape[1]} features is needed: {shape}"
        )


@contextmanager
def require_readable_by(part: str, x: Tensor) -> Iterator[None]:
    """Say which network could not read rows, and of what shape they were."""
    try:
        yield
    except (ValueError, torch.OutOfMemoryError):  # what refuses in words of its own, and what is no fault of the network
        raise
    except Exception as failed:
        why = (str(failed) or type(failed).__name__).splitlines()[0]
        raise ValueError(f"the {part} cannot read rows of shape {tuple(x.shape)}: {why}") from failed


def require_scores_and_mode(p: Any) -> None:
    """Refuse a distribution over masks that cannot say what it keeps."""
    lacking = [name for name in ("mode", "scores") if not hasattr(p, name)]
    if lacking:
        raise TypeError(f"{type(p).__name__} has no `{'` and no `'.join(lacking)}`, which every distribution over masks needs (b, d)")


def prediction_fits(predicted: Any, rows: int, outputs: Any) -> None:
    """Refuse a predictor network whose output does not fit the target."""
    check.network_output(predicted.mean if outputs.real else predicted.logits, rows, outputs.count, outputs.real)


def within(low: float, high: float, **numbers: float) -> None:
    """Refuse settings that do not lie between two numbers."""
    for name, value in numbers.items():
        if not (isinstance(value, (int, float, np.number)) and low <= value <= high):
            raise ValueError(f"{name}={value!r}, but a number from {low:g} to {high:g} is needed")
