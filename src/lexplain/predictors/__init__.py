"""Predictors: (filled x, raw mask) to a `torch.distributions` object of the target.

`Trained` learns with the selector, `Frozen` is a network left as it is, `BlackBox` is any callable.
`Target` is what they are to say: labels, soft targets, real values, or a model's output.
"""

from .black_box import BlackBox as BlackBox, CachedModel as CachedModel, EncodedModel as EncodedModel
from .cnn import cnn as cnn
from .densenet import DenseNet as DenseNet
from .ensemble import Ensemble as Ensemble
from .explained import frozen_predictor as frozen_predictor
from .frozen import Frozen as Frozen
from .mlp import mlp as mlp
from .problem import Problem as Problem, Targets as Targets, targets_of as targets_of
from .target import (
    NetworkFunction as NetworkFunction,
    Target as Target,
    as_function as as_function,
    from_labels as from_labels,
    from_model as from_model,
)
from .trained import Trained as Trained
