"""Comparison: explainers x data x measures x seeds, judged alike and put into one table."""

from .compare import compare as compare
from .comparison import Comparison as Comparison
