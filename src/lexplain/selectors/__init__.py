"""Selectors: a network whose forward returns a distribution over masks, and networks of sensible size."""

from .mlp import MLP
from .selector import MaskFamily, Selector

__all__ = ["MLP", "MaskFamily", "Selector"]
