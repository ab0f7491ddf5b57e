"""Figures of images: what is kept, where scores are high, what an imputer draws. To add one: a file with one function, and a line here.

`image_grid`, `imputed` and `masks_side_by_side` draw many pictures, and return their Figure; the others return the Axes they drew on.
"""

from .image_grid import image_grid as image_grid
from .image_kept import image_kept as image_kept
from .image_overlay import image_overlay as image_overlay
from .image_scores import image_scores as image_scores
from .imputed import imputed as imputed
from .masks_side_by_side import masks_side_by_side as masks_side_by_side
