"""Explainers: the scikit-learn face of every method, and what a fit chooses and keeps."""

from .evidence import FitWarning as FitWarning
from .explainer import Explainer as Explainer
from .to_quantus import to_quantus as to_quantus
