"""What can be on or off: a feature mask becomes a raw mask, raw input becomes the tensor that masks act on, and back.

`fit` learns the encoding from training rows and returns a new object; what it learned lies in `state`. To add a kind of input: a file with
one `FeatureKind`, a line here, and a `Kind` in the folder kinds/.
"""

from .columns import Columns as Columns
from .feature_kind import FeatureKind as FeatureKind, encoded_mask as encoded_mask
from .groups import Groups as Groups
from .patches import Patches as Patches, is_patches as is_patches, patches_of as patches_of
from .tables import ColumnType as ColumnType
