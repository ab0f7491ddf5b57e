"""Training: one loop for every method, the evaluator, and safe files."""

from .checkpoint import Checkpoint, read_file, write_atomically
from .device import fabric_of
from .evaluator import Evaluator, train_evaluator
from .fit import Settings, constant, cosine, fit
from .told import Likeness, Told

__all__ = [
    "Checkpoint",
    "Evaluator",
    "Likeness",
    "Settings",
    "Told",
    "constant",
    "cosine",
    "fabric_of",
    "fit",
    "read_file",
    "train_evaluator",
    "write_atomically",
]
