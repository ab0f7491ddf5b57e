"""Figures. Each is a function of plain data that returns the Axes it drew on; to add one: a file with one function, and a line here.

`image_grid`, `imputed` and `masks_side_by_side` draw many pictures, and return their Figure.
"""

from .another_explanation import another_explanation as another_explanation
from .certainty import certainty as certainty
from .cost import cost as cost
from .feature_rates import feature_rates as feature_rates
from .flow import flow as flow
from .honesty import honesty as honesty
from .image_grid import image_grid as image_grid
from .image_kept import image_kept as image_kept
from .image_overlay import image_overlay as image_overlay
from .image_scores import image_scores as image_scores
from .imputed import imputed as imputed
from .kept_tradeoff import kept_tradeoff as kept_tradeoff
from .masks_side_by_side import masks_side_by_side as masks_side_by_side
from .path import path as path
from .row_bars import row_bars as row_bars
from .selection_map import selection_map as selection_map
from .strip import strip as strip
from .svg import save as save
from .svg import to_svg as to_svg
from .sweep import sweep as sweep
from .truth_tradeoff import truth_tradeoff as truth_tradeoff
