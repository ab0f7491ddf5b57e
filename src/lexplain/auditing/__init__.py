"""Auditing: is an explanation honest? evaluations, measures, the encoding test, and the card that joins them.

Not called `audit`: a folder of that name would hide the function `lexplain.audit`.
"""

from .as_explanation import as_explanation as as_explanation
from .asking import questions as questions
from .audit import audit as audit, card_of as card_of
from .card import Card as Card, Line as Line
from .encoding_test import MARGIN as MARGIN, encoding_values as encoding_values, judge as judge
from .evaluation import Evaluation as Evaluation, Others as Others, Questions as Questions, Run as Run
from .evaluators import Evaluators as Evaluators
from .inputs import ClassSelection as ClassSelection
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
