"""Explained models, and predictors: (imputed x, encoded mask) to a distribution of the target.

`Trained` is trained with the selector, `Frozen` is a network that is not trained, `BlackBox` is any callable.
`Target` is what predictors are trained on: labels, class probabilities, real values, or a model's outputs.
"""

from .predictors import BlackBox as BlackBox, Frozen as Frozen, Trained as Trained, frozen_predictor as frozen_predictor
from .problem import Problem as Problem, Targets as Targets, targets_of as targets_of
from .queried import (
    EncodedFunction as EncodedFunction,
    EncodedModel as EncodedModel,
    NetworkFunction as NetworkFunction,
    QueriedModel as QueriedModel,
    QueriedRows as QueriedRows,
    as_function as as_function,
    as_queried as as_queried,
    on_encoded as on_encoded,
)
from .target import Target as Target, from_labels as from_labels, from_model as from_model
