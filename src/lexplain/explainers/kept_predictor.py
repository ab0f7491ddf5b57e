"""scikit-learn's methods of an explainer: masks, and predictions from the kept features alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from .. import check
from ..core import Explanation
from ..core.contracts import Features, Labels, RawRows
from ..core.rows import as_array

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from ..core import Outputs


class KeptPredictor(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base class of `Explainer`: a transformer to masks, and a predictor that sees the kept features only."""

    features_: Features
    outputs_: Outputs
    classes_: np.ndarray

    if TYPE_CHECKING:

        def explain(self, X: RawRows) -> Explanation:
            """Explain rows."""

    def transform(self, X: RawRows) -> np.ndarray:
        """Masks (rows, features) of the rows: True = visible."""
        return np.asarray(self.explain(X).mask)

    def get_feature_names_out(self, input_features: Features | None = None) -> np.ndarray:
        """One name per feature."""
        check.fitted(self)
        return np.asarray(self.features_.names, dtype=object)

    def predict_proba(self, X: RawRows) -> np.ndarray:
        """Class probabilities from the kept features alone."""
        check.fitted(self)
        if self.outputs_.real:
            raise AttributeError("predict_proba needs classes, but the target of the fit has real values. Use predict.")
        values = self.explain(X).kept_prediction.numpy().astype(np.float64)
        return np.asarray(values / values.sum(1, keepdims=True))

    def predict(self, X: RawRows) -> np.ndarray:
        """The class or value predicted from the kept features alone."""
        check.fitted(self)
        if self.outputs_.real:
            return np.asarray(self.explain(X).kept_prediction[:, 0])
        return np.asarray(self.classes_[self.predict_proba(X).argmax(1)])

    def score(self, X: RawRows, y: Labels) -> float:
        """Accuracy, or R2 for real values, of predictions from the kept features alone."""
        from sklearn.metrics import accuracy_score, r2_score

        check.fitted(self)
        return float((r2_score if self.outputs_.real else accuracy_score)(as_array(y), self.predict(X)))

    def __sklearn_tags__(self) -> Tags:
        """The properties that scikit-learn reads: fit needs a target, and transform returns booleans."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags
