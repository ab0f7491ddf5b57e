"""An imputer as a plain function of rows and masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from .. import check
from ..core.contracts import Features, RawRows
from ..features import raw_mask

Fill = Callable[[RawRows, np.ndarray | Tensor], RawRows]


def as_fill(imputer: nn.Module, *, features: Features | None = None) -> Fill:
    """Turn an imputer into a function `(x, mask) -> x` of arrays or tensors, which perturbation methods ask for; 1 = visible.

    The function returns what it was given, an array or a tensor, and draws afresh from torch's random state at every call.

    Args:
        imputer: fills rows (n, ...) where a mask is off.
        features: what `explainer.features_` holds, to fill with `explainer.method_.imputer`, which knows encoded rows alone: x is then an
            array or a DataFrame in the units of the fit, and the mask (n, d) one of features. None: x is of the kind that the imputer was
            made from, and the mask of its shape.
    """

    def fill(x: RawRows, mask: np.ndarray | Tensor) -> RawRows:
        if features is not None:
            rows, valid = features.encode(x)
            shown = raw_mask(features, check.mask_of_rows(_tensor(mask).to(rows.device), (len(rows), features.count)), valid)
            return features.decode(_filled(imputer, rows, shown))
        rows = _tensor(x)
        rows = rows if rows.is_floating_point() else rows.to(torch.get_default_dtype())  # what is imputed may lie between whole numbers
        shown = check.mask_of_rows(_tensor(mask).to(rows.device), rows.shape)
        # What is visible keeps digits that the imputer's own type has not.
        filled = torch.where(shown, rows, _filled(imputer, rows, shown).to(rows.dtype))
        return filled if isinstance(x, Tensor) else filled.detach().numpy()

    return fill


def _filled(imputer: nn.Module, rows: Tensor, shown: Tensor) -> Tensor:
    """Rows filled in the type and on the device of the imputer, back where they lay."""
    held = next((held for held in (*imputer.buffers(), *imputer.parameters()) if held.is_floating_point()), rows)
    filled: Tensor = imputer(rows.to(held), shown.to(held.device)).to(rows.device)
    return filled


def _tensor(values: np.ndarray | Tensor) -> Tensor:
    """A tensor as it is, and other things as a copy: arrays may be read-only, which tensors cannot be."""
    return values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, order="C"))
