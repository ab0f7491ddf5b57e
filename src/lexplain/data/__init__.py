"""Raw input: `load_data(name)` returns a Dataset. To add one: a file with a callable that says what it is, and its name in load.py."""

from .annotation import mask_from_columns, mask_from_picture, mask_from_table, mask_from_words
from .confounded import confound
from .faces import Faces
from .images import Images, Pictures
from .load import DATASETS, describe, load_data
from .synthetic import Formula, Synthetic
from .tabular import Table

__all__ = [
    "DATASETS",
    "Faces",
    "Formula",
    "Images",
    "Pictures",
    "Synthetic",
    "Table",
    "confound",
    "describe",
    "load_data",
    "mask_from_columns",
    "mask_from_picture",
    "mask_from_table",
    "mask_from_words",
]
