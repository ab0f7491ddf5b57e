"""Figures. Each is a function of plain data that returns the Axes it drew on; to add one: a file with one function, and a line here."""

from .another_explanation import another_explanation
from .certainty import certainty
from .cost import cost
from .feature_rates import feature_rates
from .flow import flow
from .honesty import honesty
from .kept_tradeoff import kept_tradeoff
from .path import path
from .row_bars import row_bars
from .selection_map import selection_map
from .strip import strip
from .svg import save, to_svg
from .sweep import sweep
from .truth_tradeoff import truth_tradeoff

__all__ = [
    "another_explanation",
    "certainty",
    "cost",
    "feature_rates",
    "flow",
    "honesty",
    "kept_tradeoff",
    "path",
    "row_bars",
    "save",
    "selection_map",
    "strip",
    "sweep",
    "to_svg",
    "truth_tradeoff",
]
