"""Figures. Each is a function of plain data that returns its Axes. To add one, add a file with one function and an entry here.

`another_explanation` draws several panels and returns its Figure. Explanations with named features are drawn in `named.py`.
"""

from .another_explanation import another_explanation as another_explanation
from .canvas import save as save, to_svg as to_svg
from .certainty import certainty as certainty
from .cost import cost as cost
from .honesty import honesty as honesty
from .kept_tradeoff import kept_tradeoff as kept_tradeoff
from .path import path as path
from .strip import strip as strip
from .sweep import sweep as sweep
from .truth_tradeoff import truth_tradeoff as truth_tradeoff
