"""Raw rows as users have them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .contracts import RawRows

MAX_ROWS = 100_000  # rows in one call of a model, by default


def as_array(X: RawRows) -> np.ndarray:
    """Rows as an array, whatever device a tensor, or a list of them, lies on and whether it carries gradients or not."""
    if isinstance(X, (list, tuple)) and X and all(isinstance(each, Tensor) and each.shape == X[0].shape for each in X):
        X = torch.stack(list(X))
    if isinstance(X, Tensor):
        X = X.detach().cpu()
        return np.asarray(X.float() if X.dtype is torch.bfloat16 else X)  # NumPy has no bfloat16
    return np.asarray(X)
