"""An imputer as a plain function of rows and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import check

Fill = Callable[[Any, Any], Any]


def as_fill(imputer: nn.Module, *, features: Any = None) -> Fill:
    """Turn an imputer into a function `(x, mask) -> x` of arrays or tensors, which perturbation methods ask for; 1 = visible.

    The function returns what it was given, an array or a tensor, and draws afresh from torch's random state at every call.

    Args:
        imputer: fills rows (n, ...) where a mask is off.
        features: what `explainer.features_` holds, to fill with `explainer.method_.imputer`, which knows encoded rows alone: x is then an
            array or a DataFrame in the units of the fit, and the mask (n, d) one of features. None: x is of the kind that the imputer was
            made from, and the mask of its shape.
    """

    def fill(x: Any, mask: Any) -> Any:
        encoded = features is not None
        rows = features.encode(x) if encoded else _tensor(x)
        rows = rows if rows.is_floating_point() else rows.to(torch.get_default_dtype())  # what is imputed may lie between whole numbers
        shown = check.mask_of_rows(_tensor(mask).to(rows.device), (len(rows), features.count) if encoded else rows.shape)
        raw = features.expand(shown) if encoded else shown
        held = next((held for held in (*imputer.buffers(), *imputer.parameters()) if held.is_floating_point()), rows)
        filled = imputer(rows.to(held), raw.to(held.device)).to(rows.device)
        if encoded:
            return features.decode(filled)
        filled = torch.where(raw, rows, filled.to(rows.dtype))  # what is visible keeps digits that the imputer's own type has not
        return filled if isinstance(x, Tensor) else filled.detach().numpy()

    return fill


def _tensor(values: Any) -> Tensor:
    """A tensor as it is, and other things as a copy: arrays may be read-only, which tensors cannot be."""
    return values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, order="C"))
