"""What a mask can keep or hide: features encode raw rows, decode encoded rows, and expand feature masks to encoded masks.

`fit` learns the encoding from training rows and returns a new object; `state` returns what it learned. To add a kind of input, write a file
with one `FeatureKind`, a line here, and a `Kind` in the folder kinds/.
"""

from .columns import Columns as Columns
from .feature_kind import FeatureKind as FeatureKind, encoded_mask as encoded_mask
from .groups import Groups as Groups
from .patches import Patches as Patches, is_patches as is_patches, patches_of as patches_of
from .tables import ColumnType as ColumnType
