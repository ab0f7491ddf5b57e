"""Imputers: (x, raw mask) to an x of the same shape. What is on is left alone; what is off cannot leak.

An imputer knows no model, no label and no loss. One that learns from data has a class method `fit(x)`.
`as_fill` and `as_masker` hand one to other tools.
To add one: a file with one class, a line here, and a line in tests/imputers/test_imputers.py.
"""

from torch import nn

from .fill import Constant as Constant
from .gaussian import Gaussian as Gaussian, IndependentGaussian as IndependentGaussian
from .interop import as_fill as as_fill, as_masker as as_masker
from .kmeans import KMeansRows as KMeansRows
from .logistics import LogisticMeans as LogisticMeans, LogisticMixture as LogisticMixture
from .marginal import (
    MAX_BACKGROUND as MAX_BACKGROUND,
    Marginal as Marginal,
    NoBackground as NoBackground,
    background_of as background_of,
    limit_background as limit_background,
)
from .mixture import GaussianMixture as GaussianMixture, MixtureMeans as MixtureMeans, MixtureRows as MixtureRows
from .vaeac import VAEAC as VAEAC

IMPUTERS: dict[str, type[nn.Module]] = {  # the menu of `Explainer(imputer=)` and the command line; code imports the class
    imputer.__name__: imputer
    for imputer in (
        VAEAC,
        Constant,
        Gaussian,
        GaussianMixture,
        IndependentGaussian,
        KMeansRows,
        LogisticMeans,
        LogisticMixture,
        Marginal,
        MixtureMeans,
        MixtureRows,
    )
}
