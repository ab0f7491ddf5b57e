"""An imputer as users give it: fitted already, a class, the name of one of ours, or a number."""

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
    """One of our classes for its name, a constant for a number; an imputer, a class of one, or None as it is."""
    if isinstance(imputer, str):
        return IMPUTERS[check.one_of(imputer, list(IMPUTERS), "imputer")]
    if isinstance(imputer, Real) and not isinstance(imputer, (bool, np.bool_)):
        return Constant(float(imputer))
    if imputer is not None and not callable(imputer):
        raise TypeError(f"imputer={imputer!r} is no imputer; give one, its class, its name, or a number to put everywhere")
    fit = getattr(imputer, "fit", None)
    if inspect.isclass(imputer) and fit is not None and not inspect.ismethod(fit):
        raise TypeError(f"{imputer.__name__}.fit needs an object; make it a class method that returns a fitted one, or pass a fitted one")
    return cast("nn.Module | type[nn.Module] | None", imputer)


def fit_imputer(imputer: object, x: Tensor, features: Features, device: torch.device | None = None) -> nn.Module:
    """A copy of an imputer, or one of a class or of its name, fitted to encoded rows (n, ...), on a device where one is named.

    The `fit` of a class is given the features too where it takes them.
    """
    given = resolve_imputer(imputer)
    if not inspect.isclass(given):
        return cast("nn.Module", copy.deepcopy(given))
    fit = getattr(given, "fit", None)
    if fit is None:
        return given()
    beside = {"features": features} if "features" in inspect.signature(fit).parameters else {}
    made: nn.Module = fit(x.to(device or x.device), **beside)
    return made
