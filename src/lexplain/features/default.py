"""The features that suit the shape of the input."""

from __future__ import annotations

from typing import Any

import numpy as np

from .columns import Columns
from .patches import Patches


def features_for(X: Any) -> Columns | Patches:
    """Patches of images (three or four axes), columns of all else; not fitted yet."""
    axes = getattr(X, "ndim", None)
    return Patches(None) if (np.ndim(X) if axes is None else axes) in (3, 4) else Columns()
