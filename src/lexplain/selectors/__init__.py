"""Selectors: a network whose forward returns a distribution over masks, and networks of sensible size."""

from .mlp import MLP
from .network import selector_for
from .selector import MaskFamily, Selector
from .unet import UNet

__all__ = ["MLP", "MaskFamily", "Selector", "UNet", "selector_for"]
