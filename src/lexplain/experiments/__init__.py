"""Experiments: explainers x data x measures x seeds, judged alike, and each computed once."""

from .compare import compare as compare
from .comparison import Comparison as Comparison
