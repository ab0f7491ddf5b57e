"""Named methods. To add one: a file with one function that returns a Method, and a line here."""

from .basex import basex
from .invase import invase
from .l2x import l2x
from .lex import lex
from .meed import meed
from .method import TEST_IMPUTATIONS, Method
from .realx import realx
from .step import Phase, Step
from .vibi import vibi

METHODS = {  # the menu of the Explainer and the command line; code imports the function
    "basex": basex,
    "invase": invase,
    "l2x": l2x,
    "lex": lex,
    "meed": meed,
    "realx": realx,
    "vibi": vibi,
}

__all__ = ["METHODS", "TEST_IMPUTATIONS", "Method", "Phase", "Step", *METHODS]
