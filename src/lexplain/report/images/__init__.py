"""Figures of images: what is kept, where scores are high, what an imputer draws. To add one: a function, and a line here.

`image_grid`, `imputed` and `masks_side_by_side` draw many pictures, and return their Figure; the others return the Axes they drew on.
"""

from .image_grid import image_grid as image_grid, masks_side_by_side as masks_side_by_side
from .imputation_grid import imputation_grid as imputation_grid
from .maps import image_scores as image_scores
from .one_image import image_kept as image_kept, image_overlay as image_overlay
