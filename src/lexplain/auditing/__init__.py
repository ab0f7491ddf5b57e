"""Auditing: is an explanation honest? measures, the verdict, and the card that joins them.

Not called `audit`: a folder of that name would hide the function `lexplain.audit`.
"""

from .as_explanation import as_explanation as as_explanation
from .asking import questions as questions
from .audit import audit as audit, card_of as card_of
from .card import MARGIN as MARGIN, Card as Card, Line as Line, judge as judge
from .class_selection import ClassSelection as ClassSelection
from .measure import (
    NEEDS as NEEDS,
    Measure as Measure,
    estimate_of as estimate_of,
    estimates as estimates,
    find_measures as find_measures,
    means as means,
    of_metric as of_metric,
    values_of as values_of,
)
from .measures import COMPARED as COMPARED, MEASURES as MEASURES
