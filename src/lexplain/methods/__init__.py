"""Named methods. To add one, write a file with one function below `@recipe` that returns a Method, and add an entry here."""

from .basex import basex as basex
from .contributions import contributions as contributions
from .gains import PRICE as PRICE, gains as gains
from .invase import invase as invase
from .l2x import l2x as l2x
from .lex import lex as lex
from .meed import meed as meed
from .method import TEST_IMPUTATIONS as TEST_IMPUTATIONS, Method as Method
from .parts import Parts as Parts, Regime as Regime
from .plans import (
    MAX_GAIN as MAX_GAIN,
    MIN_GAIN as MIN_GAIN,
    Adversary as Adversary,
    Phase as Phase,
    Plan as Plan,
    PredictorSchedule as PredictorSchedule,
    Rounds as Rounds,
    Step as Step,
    Together as Together,
    Turns as Turns,
    prediction_information as prediction_information,
)
from .realx import realx as realx
from .recipe import Recipe as Recipe, recipe as recipe
from .sizes import MaskFactory as MaskFactory, Size as Size
from .sufficient import sufficient as sufficient
from .vibi import vibi as vibi


class NamedMethods(dict[str, Recipe]):
    """The built-in methods: a dict from names, which `Explainer` and the command line accept, to recipes.

    `list(METHODS)` returns the names, and `help(METHODS["realx"])` describes one method. To use your own, pass its recipe to `Explainer`;
    CONTRIBUTING.md explains how to write one.
    """


METHODS = NamedMethods({recipe.name: recipe for recipe in (basex, contributions, gains, invase, l2x, lex, meed, realx, sufficient, vibi)})
