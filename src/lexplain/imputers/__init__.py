"""Imputers: (x, raw mask) to an x of the same shape. What is on is left alone; what is off cannot leak.

An imputer knows no model, no label and no loss. One that learns from data has a class method `fit(x)`.
`as_fill` and `as_masker` hand one to other tools.
To add one: a file with one class, a line here, and a line in tests/imputers/test_imputers.py.
"""

from .as_fill import as_fill
from .as_masker import as_masker
from .constant import Constant
from .gaussian import Gaussian, IndependentGaussian
from .kmeans import KMeansRows
from .logistics import LogisticMeans, LogisticMixture
from .marginal import Marginal
from .mixture import GaussianMixture, MixtureMeans, MixtureRows
from .vaeac import VAEAC

__all__ = [
    "VAEAC",
    "Constant",
    "Gaussian",
    "GaussianMixture",
    "IndependentGaussian",
    "KMeansRows",
    "LogisticMeans",
    "LogisticMixture",
    "Marginal",
    "MixtureMeans",
    "MixtureRows",
    "as_fill",
    "as_masker",
]
