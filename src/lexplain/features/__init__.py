"""What can be on or off: a feature mask becomes a raw mask, raw input becomes the tensor that masks act on, and back.

`fit` learns the encoding from training rows and returns a new object; what it learned lies in `state`.
"""

from .columns import Columns as Columns
from .default import features_for as features_for
from .groups import Groups as Groups
from .kind import Kind as Kind
from .patches import Patches as Patches
