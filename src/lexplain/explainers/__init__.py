"""`Explainer`, the scikit-learn estimator of all methods, and the steps of its `fit`."""

from .explainer import Explainer as Explainer
from .findings import FitWarning as FitWarning
from .interop import to_quantus as to_quantus
