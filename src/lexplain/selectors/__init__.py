"""Selectors: a network whose forward returns a distribution over masks, and networks of sensible size."""

from .mlp import MLP
from .network import selector_for
from .replay import scores_on_cpu
from .selector import MaskFamily, Selector
from .unet import UNet

__all__ = ["MLP", "MaskFamily", "Selector", "UNet", "scores_on_cpu", "selector_for"]
