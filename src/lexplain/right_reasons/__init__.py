"""Right for the right reasons: networks that must not use what people marked, and a search for models that use something else."""

from .annotation import mask_from_columns as mask_from_columns
from .annotation import mask_from_picture as mask_from_picture
from .annotation import mask_from_table as mask_from_table
from .annotation import mask_from_words as mask_from_words
from .another_explanation import Alternatives as Alternatives
from .another_explanation import find_another_explanation as find_another_explanation
from .penalty import input_gradients as input_gradients
from .penalty import right_reasons_loss as right_reasons_loss
from .right_reasons import RightReasons as RightReasons
