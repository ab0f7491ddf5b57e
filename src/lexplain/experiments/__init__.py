"""Experiments: explainers x data x measures x seeds, evaluated in the same way. Each cell is computed once."""

from .compare import compare as compare
from .comparison import Comparison as Comparison
