"""Explainers: the scikit-learn face of every method."""

from .evidence import FitWarning
from .explainer import Explainer

__all__ = ["Explainer", "FitWarning"]
