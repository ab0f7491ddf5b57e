"""Comparison: explainers x data x metrics x seeds, judged alike and put into one table."""

from .compare import compare
from .comparison import Comparison
from .measures import MEASURES, Measure

__all__ = ["MEASURES", "Comparison", "Measure", "compare"]
