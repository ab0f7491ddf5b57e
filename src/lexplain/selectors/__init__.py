"""Selectors: a network whose forward returns a distribution over masks, and networks of sensible size."""

from .mlp import MLP as MLP
from .replay import scores_on_cpu as scores_on_cpu
from .selector import Selector as Selector
from .unet import UNet as UNet
