"""Comparison: explainers x data x metrics x seeds, judged alike and put into one table."""

from .compare import compare as compare
from .comparison import Comparison as Comparison
from .measures import MEASURES as MEASURES
from .measures import Measure as Measure
