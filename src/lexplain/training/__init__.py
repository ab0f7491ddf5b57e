"""Training: one loop for every method and every network, the evaluator and its readers, and safe files."""

from .checkpoint import Checkpoint as Checkpoint, read_file as read_file, write_atomically as write_atomically
from .device import device_of as device_of, fabric_of as fabric_of
from .evaluator import Evaluator as Evaluator, train_evaluator as train_evaluator
from .fit import fit as fit
from .network import hold_out_tenth as hold_out_tenth, split_tenth as split_tenth, train_network as train_network
from .readers import MaskAwareReader as MaskAwareReader, MaskDensityRatio as MaskDensityRatio
from .retrained import Retrained as Retrained, reinitialised as reinitialised, retrain as retrain
from .settings import Settings as Settings, constant as constant, cosine as cosine
