"""An imputer as one of shap's maskers."""

from __future__ import annotations

import numpy as np
from torch import nn

from .. import check
from ..core import seeded
from ..core.contracts import Features, RawRows
from .as_fill import as_fill

DRAWS = 100


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
