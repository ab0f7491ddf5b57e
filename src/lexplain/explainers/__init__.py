"""Explainers: the scikit-learn face of every method, and what a fit chooses and keeps."""

from .explainer import Explainer as Explainer
from .findings import FitWarning as FitWarning
from .interop import to_quantus as to_quantus
