"""What stands in for hidden values of each kind of features unless told. A kind of your own joins with a line here."""

from __future__ import annotations

from torch import nn

from .. import check
from ..core.contracts import Features
from .marginal import Marginal

DEFAULTS: dict[str, type[nn.Module]] = {"columns": Marginal, "patches": Marginal}


def imputer_for(features: Features) -> type[nn.Module]:
    """The class of imputer that is fitted to rows of a kind."""
    return check.for_kind(DEFAULTS, features.kind, "imputer", "lexplain.imputers.by_kind.DEFAULTS")
