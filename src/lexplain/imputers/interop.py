"""Imputers for other tools: a function of rows and masks, and one of shap's maskers."""

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
            rows, valid = features.encode(x)[:2]
            shown = encoded_mask(features, check.mask_of_rows(_tensor(mask).to(rows.device), (len(rows), features.count)), valid)
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


def as_masker(imputer: nn.Module, *, features: Features | None = None, draws: int = DRAWS, seed: int = 0) -> Masker:
    """Let shap's own explainers hide features by an imputer.

    Pass it where shap takes a masker, such as in `shap.explainers.Permutation(model, masker)`. Every mask meets the same draws, so that a
    feature's value is a difference of like with like, and values add up. With a conditional imputer, shap's values become conditional.

    Args:
        imputer: fills rows (n, d) where a mask is off, made from rows in the model's own units.
        features: what `explainer.features_` holds, to use `explainer.method_.imputer`, which knows encoded rows alone; groups of columns
            are then hidden together, and shap's values are theirs. shap hands the model arrays, whatever was fitted.
        draws: imputations that shap averages the model over; one is enough for an imputer that does not draw.
        seed: of the draws.

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
    """What shap asks of a masker: call it with a mask and a row, and it gives the row's imputations."""

    immutable_outputs = True  # shap need not copy what it is given

    def __init__(self, imputer: nn.Module, features: Features | None, draws: int, seed: int) -> None:
        self.features, self.draws, self.seed = features, draws, seed
        self.fill = as_fill(imputer, features=features)
        self.feature_names = None if features is None else list(features.names)

    def shape(self, x: np.ndarray) -> tuple[int, int]:
        """How many imputations a mask has, and how many features."""
        return self.draws, len(x) if self.features is None else self.features.count

    def mask_shapes(self, x: np.ndarray) -> list[tuple[int, ...]]:
        """The shape of the mask of a row."""
        return [(self.shape(x)[1],)]

    def __call__(self, mask: np.ndarray | bool, x: np.ndarray) -> tuple[np.ndarray]:
        """The imputations (draws, ...) of a row of which a mask (d,), or all (True) or nothing (False), is visible."""
        rows: RawRows = np.repeat(np.asarray(x)[None], self.draws, 0)
        if self.features is not None:  # shap makes arrays of DataFrames, where types are lost
            rows = self.features.from_array(rows)
        with seeded(self.seed):
            filled = self.fill(rows, np.broadcast_to(np.asarray(mask, dtype=bool), self.shape(x)))
        return (np.asarray(filled),)
