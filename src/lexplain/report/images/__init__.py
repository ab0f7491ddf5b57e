"""Figures of images: kept pixels, scores and imputations. To add one, add a function and an entry here.

`image_grid`, `imputation_grid` and `masks_side_by_side` draw many pictures and return their Figure; the others return their Axes.
"""

from .image_grid import image_grid as image_grid, masks_side_by_side as masks_side_by_side
from .imputation_grid import imputation_grid as imputation_grid
from .maps import image_scores as image_scores
from .one_image import image_kept as image_kept, image_overlay as image_overlay
