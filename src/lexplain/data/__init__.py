"""Raw input: `load_data(name)` returns a Dataset. To add one: a file with a callable that says what it is, and its name in load.py."""

from .confounded import confound as confound
from .faces import Faces as Faces
from .images import Images as Images
from .images import Pictures as Pictures
from .load import DATASETS as DATASETS
from .load import describe as describe
from .load import load_data as load_data
from .synthetic import Formula as Formula
from .synthetic import Synthetic as Synthetic
from .tabular import Table as Table
