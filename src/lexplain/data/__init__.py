"""Data sets: `load_data(name)` returns a Dataset. To add one, write a file with a `DatasetSource`, and add it to load.py."""

from .confounded import confound as confound
from .faces import Faces as Faces
from .images import Images as Images, RawImages as RawImages
from .load import DATASETS as DATASETS, describe as describe, load_data as load_data
from .synthetic import Formula as Formula, Synthetic as Synthetic
from .tabular import Table as Table
