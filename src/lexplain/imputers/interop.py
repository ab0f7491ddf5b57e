"""Imputers for other tools: as a function of rows and masks, and as a masker of shap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from .. import check
from ..core import seeded
from ..core.contracts import Features, RawRows
from ..features import encoded_mask

DRAWS = 100
Fill = Callable[[RawRows, np.ndarray | Tensor], RawRows]


def as_fill(imputer: nn.Module, *, features: Features | None = None) -> Fill:
    """Convert an imputer to a function `(x, mask) -> x` of arrays or tensors, for perturbation methods; 1 = visible.

    The function returns an array for an array and a tensor for a tensor. Each call resamples with torch's random state.

    Args:
        imputer: Imputer of rows (n, ...).
        features: `explainer.features_`, needed for `explainer.method_.imputer`, which imputes encoded rows: x is then an array or a
            DataFrame in the units of the fit, and the mask is of features (n, d). None: x has the form of the rows that the imputer was
            fitted on, and the mask has its shape.
    """

    def fill(x: RawRows, mask: np.ndarray | Tensor) -> RawRows:
        if features is not None:
            rows, valid = features.encode(x)[:2]
            visible = encoded_mask(features, check.mask_of_rows(_tensor(mask).to(rows.device), (len(rows), features.count)), valid)
            return features.decode(_filled(imputer, rows, visible))
        rows = _tensor(x)
        rows = rows if rows.is_floating_point() else rows.to(torch.get_default_dtype())  # imputed values may be fractions
        visible = check.mask_of_rows(_tensor(mask).to(rows.device), rows.shape)
        # Visible values keep digits that the imputer's type does not have.
        filled = torch.where(visible, rows, _filled(imputer, rows, visible).to(rows.dtype))
        return filled if isinstance(x, Tensor) else filled.detach().numpy()

    return fill


def _filled(imputer: nn.Module, rows: Tensor, visible: Tensor) -> Tensor:
    """Rows imputed in the type and on the device of the imputer, returned to their own device."""
    held = next((held for held in (*imputer.buffers(), *imputer.parameters()) if held.is_floating_point()), rows)
    filled: Tensor = imputer(rows.to(held), visible.to(held.device)).to(rows.device)
    return filled


def _tensor(values: np.ndarray | Tensor) -> Tensor:
    """A tensor unchanged, and other values as a copy: arrays may be read-only, unlike tensors."""
    return values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, order="C"))


def as_masker(imputer: nn.Module, *, features: Features | None = None, draws: int = DRAWS, seed: int = 0) -> Masker:
    """Convert an imputer to a masker, so that shap's explainers hide features with it.

    Pass it as shap's masker, such as in `shap.explainers.Permutation(model, masker)`. All masks use the same random numbers, so that
    differences between masks are not noise, and values add up. With a conditional imputer, shap's values are conditional.

    Args:
        imputer: Imputer of rows (n, d), fitted on rows in the model's units.
        features: `explainer.features_`, needed for `explainer.method_.imputer`, which imputes encoded rows. Groups of columns are then
            hidden together and have one value. shap always passes arrays to the model.
        draws: Imputations per mask that shap averages over; 1 for an imputer without random numbers.
        seed: Seed of the random numbers.

    Example:
        >>> import numpy as np
        >>> from lexplain.imputers import Constant, as_masker
        >>> masker = as_masker(Constant(0.5), draws=3)
        >>> masker(np.array([True, False]), np.array([7.0, 8.0]))
        (array([[7. , 0.5]]),)
    """
    check.counts(draws=draws)
    return Masker(imputer, features, draws if getattr(imputer, "random", True) else 1, seed)


class Masker:
    """A masker in shap's interface: called with a mask and a row, it returns imputations of the row."""

    immutable_outputs = True  # shap does not need to copy outputs

    def __init__(self, imputer: nn.Module, features: Features | None, draws: int, seed: int) -> None:
        self.features, self.draws, self.seed = features, draws, seed
        self.fill = as_fill(imputer, features=features)
        self.feature_names = None if features is None else list(features.names)

    def shape(self, x: np.ndarray) -> tuple[int, int]:
        """Number of imputations per mask, and number of features."""
        return self.draws, len(x) if self.features is None else self.features.count

    def mask_shapes(self, x: np.ndarray) -> list[tuple[int, ...]]:
        """The shape of the mask of a row."""
        return [(self.shape(x)[1],)]

    def __call__(self, mask: np.ndarray | bool, x: np.ndarray) -> tuple[np.ndarray]:
        """Imputations (draws, ...) of a row with a mask (d,), or with all features visible (True) or hidden (False)."""
        rows: RawRows = np.repeat(np.asarray(x)[None], self.draws, 0)
        if self.features is not None:  # shap converts DataFrames to arrays, which lose types
            rows = self.features.from_array(rows)
        with seeded(self.seed):
            filled = self.fill(rows, np.broadcast_to(np.asarray(mask, dtype=bool), self.shape(x)))
        return (np.asarray(filled),)
