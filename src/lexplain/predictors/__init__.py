"""Predictors: (filled x, raw mask) to a `torch.distributions` object of the target.

`Trained` learns with the selector, `Frozen` is a network left as it is, `BlackBox` is any callable.
`Target` is what they are to say: labels, soft targets, real values, or a model's output.
"""

from .black_box import BlackBox, Remembering
from .cnn import cnn
from .densenet import DenseNet
from .ensemble import Ensemble
from .explained import frozen_predictor
from .frozen import Frozen
from .mlp import mlp
from .network import network_for
from .outputs import Outputs
from .target import NetworkFunction, Target, as_function, from_labels, from_model
from .trained import Trained

__all__ = [
    "BlackBox",
    "DenseNet",
    "Ensemble",
    "Frozen",
    "NetworkFunction",
    "Outputs",
    "Remembering",
    "Target",
    "Trained",
    "as_function",
    "cnn",
    "from_labels",
    "from_model",
    "frozen_predictor",
    "mlp",
    "network_for",
]
