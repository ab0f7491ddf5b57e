"""Imputers as users pass them: a fitted imputer, a class, a name, or a number."""

from __future__ import annotations

import copy
import inspect
from numbers import Real
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from .. import check
from ..core.contracts import Features
from . import IMPUTERS, Constant


def resolve_imputer(imputer: object) -> nn.Module | type[nn.Module] | None:
    """Return the imputer class of a name, or `Constant` for a number; an imputer, an imputer class or None is returned unchanged."""
    if isinstance(imputer, str):
        return IMPUTERS[check.one_of(imputer, list(IMPUTERS), "imputer")]
    if isinstance(imputer, Real) and not isinstance(imputer, (bool, np.bool_)):
        return Constant(float(imputer))
    if imputer is not None and not callable(imputer):
        raise TypeError(f"imputer must be an imputer, an imputer class, its name, or a number, got {imputer!r}.")
    fit = getattr(imputer, "fit", None)
    if inspect.isclass(imputer) and fit is not None and not inspect.ismethod(fit):
        raise TypeError(
            f"{imputer.__name__}.fit must be a class method that returns a fitted imputer. Change it, or pass a fitted imputer."
        )
    return cast("nn.Module | type[nn.Module] | None", imputer)


def fit_imputer(imputer: object, x: Tensor, features: Features, device: torch.device | None = None) -> nn.Module:
    """Return a copy of an imputer, or an imputer of a class or name, fitted to encoded rows (n, ...) on `device` (default: that of x).

    The `fit` of a class also gets the features if it has such a parameter.
    """
    resolved = resolve_imputer(imputer)
    if not inspect.isclass(resolved):
        return cast("nn.Module", copy.deepcopy(resolved))
    fit = getattr(resolved, "fit", None)
    if fit is None:
        return resolved()
    extra = {"features": features} if "features" in inspect.signature(fit).parameters else {}
    fitted: nn.Module = fit(x.to(device or x.device), **extra)
    return fitted
