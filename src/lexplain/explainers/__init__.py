"""Explainers: the scikit-learn face of every method."""

from .evidence import FitWarning
from .explainer import Explainer
from .to_quantus import to_quantus

__all__ = ["Explainer", "FitWarning", "to_quantus"]
