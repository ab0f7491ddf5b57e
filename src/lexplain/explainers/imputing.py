"""An imputer as users give it: fitted already, a class, the name of one of ours, or a number."""

from __future__ import annotations

import copy
import inspect
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import check
from ..imputers import IMPUTERS, Constant


def known_imputer(imputer: Any) -> Any:
    """One of our classes for its name, a constant for a number; an imputer, a class of one, or None as it is."""
    if isinstance(imputer, str):
        return IMPUTERS[check.one_of(imputer, list(IMPUTERS), "imputer")]
    if isinstance(imputer, Real) and not isinstance(imputer, (bool, np.bool_)):
        return Constant(float(imputer))
    if imputer is not None:
        check.imputer_given(imputer)
    return imputer


def fitted_imputer(imputer: Any, x: Tensor, device: torch.device | None = None) -> nn.Module:
    """A copy of an imputer, or one of a class or of its name, fitted to encoded rows (n, ...), on a device where one is named."""
    given = known_imputer(imputer)
    if not inspect.isclass(given):
        given = copy.deepcopy(given)
    elif hasattr(given, "fit"):
        given = given.fit(x.to(device or x.device))
    else:
        given = given()
    made: nn.Module = given
    return made
