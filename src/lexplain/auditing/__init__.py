"""Auditing: is an explanation honest? Evidence, measures, the encoding test, and the card that joins them.

Not called `audit`: a folder of that name would hide the function `lexplain.audit`.
"""

from .as_explanation import as_explanation as as_explanation
from .asking import questions as questions
from .audit import audit as audit, card_of as card_of
from .card import Card as Card, Line as Line
from .encoding_test import MARGIN as MARGIN, encoding_values as encoding_values, judge as judge
from .evidence import NEEDS as NEEDS, Evidence as Evidence, Questions as Questions
from .inputs import ClassSelection as ClassSelection
from .judges import Judges as Judges, OtherRows as OtherRows, Resources as Resources
from .measure import Measure as Measure, estimate_of as estimate_of, find_measures as find_measures, of_metric as of_metric
from .measures import COMPARED as COMPARED, MEASURES as MEASURES
