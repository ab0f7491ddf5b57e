"""Figures. Each is a function of plain data that returns the Axes it drew on; to add one: a file with one function, and a line here.

`image_grid`, `imputed` and `masks_side_by_side` draw many pictures, and return their Figure.
"""

from .another_explanation import another_explanation
from .certainty import certainty
from .cost import cost
from .feature_rates import feature_rates
from .flow import flow
from .honesty import honesty
from .image_grid import image_grid
from .image_kept import image_kept
from .image_overlay import image_overlay
from .image_scores import image_scores
from .imputed import imputed
from .kept_tradeoff import kept_tradeoff
from .masks_side_by_side import masks_side_by_side
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
    "image_grid",
    "image_kept",
    "image_overlay",
    "image_scores",
    "imputed",
    "kept_tradeoff",
    "masks_side_by_side",
    "path",
    "row_bars",
    "save",
    "selection_map",
    "strip",
    "sweep",
    "to_svg",
    "truth_tradeoff",
]
