"""What can be on or off: a feature mask becomes a raw mask, raw input becomes the tensor that masks act on, and back.

`fit` learns the encoding from training rows and returns a new object; what it learned lies in `state`.
"""

from .columns import Columns
from .groups import Groups
from .kind import Kind
from .patches import Patches

__all__ = ["Columns", "Groups", "Kind", "Patches"]
