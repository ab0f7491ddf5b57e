"""Right for the right reasons: train networks not to use marked inputs, and search for models that use other inputs."""

from .annotation import (
    mask_from_columns as mask_from_columns,
    mask_from_image as mask_from_image,
    mask_from_table as mask_from_table,
    mask_from_words as mask_from_words,
)
from .another_explanation import AlternativeModels as AlternativeModels, find_another_explanation as find_another_explanation
from .penalty import input_gradients as input_gradients, right_reasons_loss as right_reasons_loss
from .right_reasons import RightReasons as RightReasons
