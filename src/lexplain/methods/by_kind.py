"""Which method suits which kind of features. A kind of your own joins with a line here."""

from __future__ import annotations

from .. import check
from ..core.contracts import Features
from .gains import gains
from .recipe import Recipe
from .sufficient import sufficient

DEFAULTS: dict[str, Recipe] = {"columns": gains, "patches": sufficient}


def default_for(features: Features) -> Recipe:
    """The method that suits what is explained."""
    return check.for_kind(DEFAULTS, features.kind, "default method", "lexplain.methods.by_kind.DEFAULTS")
