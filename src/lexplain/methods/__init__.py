"""Named methods. To add one: a file with one function that returns a Method, and a line here."""

from collections.abc import Callable
from typing import Any

from .basex import basex
from .gains import gains
from .hold import hold
from .invase import invase
from .l2x import l2x
from .lex import lex
from .meed import meed
from .method import TEST_IMPUTATIONS, Method
from .realx import realx
from .rounds import Rounds, knowledge
from .screen import LEAST, MOST
from .step import Phase, Step
from .vibi import vibi

METHODS: dict[str, Callable[..., Method]] = {  # the menu of the Explainer and the command line; code imports the function
    "basex": basex,
    "gains": gains,
    "hold": hold,
    "invase": invase,
    "l2x": l2x,
    "lex": lex,
    "meed": meed,
    "realx": realx,
    "vibi": vibi,
}

DEFAULT, IMAGES = "gains", "hold"  # of tables, and of images
FILLED_FROM_ROWS = (gains, hold)  # hidden values are other rows' unless told


def default_for(features: Any) -> str:
    """The name of the method that suits what is explained."""
    return IMAGES if getattr(features, "images", False) else DEFAULT


__all__ = [
    "DEFAULT",
    "FILLED_FROM_ROWS",
    "IMAGES",
    "LEAST",
    "METHODS",
    "MOST",
    "TEST_IMPUTATIONS",
    "Method",
    "Phase",
    "Rounds",
    "Step",
    "default_for",
    "knowledge",
    *METHODS,
]
