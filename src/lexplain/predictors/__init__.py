"""Predictors: (filled x, raw mask) to a `torch.distributions` object of the target.

`Trained` learns with the selector, `Frozen` is a network left as it is, `BlackBox` is any callable.
`Target` is what they are to say: labels, soft targets, real values, or a model's output.
"""

from .black_box import BlackBox as BlackBox
from .black_box import Remembering as Remembering
from .cnn import cnn as cnn
from .densenet import DenseNet as DenseNet
from .ensemble import Ensemble as Ensemble
from .explained import frozen_predictor as frozen_predictor
from .frozen import Frozen as Frozen
from .mlp import mlp as mlp
from .network import network_for as network_for
from .outputs import Outputs as Outputs
from .target import NetworkFunction as NetworkFunction
from .target import Target as Target
from .target import as_function as as_function
from .target import from_labels as from_labels
from .target import from_model as from_model
from .trained import Trained as Trained
