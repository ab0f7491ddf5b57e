"""Named methods. To add one: a file with one function that returns a Method, and a line here."""

from collections.abc import Callable
from typing import Any

from .basex import basex as basex
from .gains import gains as gains
from .hold import hold as hold
from .invase import invase as invase
from .l2x import l2x as l2x
from .lex import lex as lex
from .meed import meed as meed
from .method import TEST_IMPUTATIONS as TEST_IMPUTATIONS
from .method import Method as Method
from .realx import realx as realx
from .rounds import Rounds as Rounds
from .rounds import knowledge as knowledge
from .screen import LEAST as LEAST
from .screen import MOST as MOST
from .step import Phase as Phase
from .step import Step as Step
from .vibi import vibi as vibi

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
