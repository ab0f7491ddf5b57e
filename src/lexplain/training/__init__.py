"""Training: one loop for all methods and networks, devices and checkpoints."""

from .checkpoint import Checkpoint as Checkpoint
from .fit import fit as fit
from .network import train_network as train_network
from .settings import Settings as Settings, constant as constant, cosine as cosine, device_of as device_of, fabric_of as fabric_of
