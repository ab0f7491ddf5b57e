"""Imputers: (x, encoded mask) to an x of the same shape. Visible values stay unchanged; hidden values do not influence the result.

An imputer does not depend on the model, the labels or the loss. One that is fitted has a class method `fit(x)`.
`as_fill` and `as_masker` make imputers available to other tools.
To add one, write a file with one class, a line here, and a line in tests/imputers/test_imputers.py.
"""

from torch import nn

from .donors import Donors as Donors
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

IMPUTERS: dict[str, type[nn.Module]] = {  # names for `Explainer(imputer=)` and the command line
    imputer.__name__: imputer
    for imputer in (
        VAEAC,
        Constant,
        Donors,
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
