"""The features that suit the shape of the input."""

from __future__ import annotations

from ..core.contracts import RawRows
from ..core.rows import as_array
from .columns import Columns
from .patches import Patches


def features_for(X: RawRows) -> Columns | Patches:
    """Patches of images (three or four axes, of which two are longer than 1), columns of all else; not fitted yet."""
    shape = getattr(X, "shape", None)
    if shape is None:
        try:
            shape = as_array(X).shape
        except ValueError:  # rows of different lengths, which columns refuse in better words
            shape = ()
    return Patches(None) if len(shape) in (3, 4) and sum(n > 1 for n in shape[1:]) >= 2 else Columns()
