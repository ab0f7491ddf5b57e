"""Training: one loop for every method, the evaluator, networks that are right for the right reasons, and safe files."""

from .another_explanation import Alternatives, find_another_explanation
from .checkpoint import Checkpoint, read_file, write_atomically
from .device import fabric_of
from .evaluator import Evaluator, train_evaluator
from .fit import fit
from .penalty import input_gradients, right_reasons_loss
from .right_reasons import RightReasons
from .settings import Settings, constant, cosine, rise_for
from .told import Likeness, Told

__all__ = [
    "Alternatives",
    "Checkpoint",
    "Evaluator",
    "Likeness",
    "RightReasons",
    "Settings",
    "Told",
    "constant",
    "cosine",
    "fabric_of",
    "find_another_explanation",
    "fit",
    "input_gradients",
    "read_file",
    "right_reasons_loss",
    "rise_for",
    "train_evaluator",
    "write_atomically",
]
