"""Training: one loop for every method and every network, the evaluator and its readers, and safe files."""

from .checkpoint import Checkpoint as Checkpoint
from .checkpoint import read_file as read_file
from .checkpoint import write_atomically as write_atomically
from .device import fabric_of as fabric_of
from .evaluator import Evaluator as Evaluator
from .evaluator import train_evaluator as train_evaluator
from .fit import fit as fit
from .reinitialise import cascade as cascade
from .reinitialise import reinitialised as reinitialised
from .retrained import Retrained as Retrained
from .retrained import retrain as retrain
from .settings import Settings as Settings
from .settings import constant as constant
from .settings import cosine as cosine
from .settings import rise_for as rise_for
from .told import Likeness as Likeness
from .told import Told as Told
