"""Explainers: the scikit-learn face of every method."""

from .explainer import Explainer

__all__ = ["Explainer"]
