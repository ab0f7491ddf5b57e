"""Auditing: is an explanation honest? The verdict, and the card that joins it to measures.

Not called `audit`: a folder of that name would hide the function `lexplain.audit`.
"""

from ..measures import MEASURES as MEASURES, Measure as Measure
from .as_explanation import as_explanation as as_explanation
from .asking import questions as questions
from .audit import audit as audit, card_of as card_of
from .card import MARGIN as MARGIN, Card as Card, Line as Line, judge as judge
from .class_selection import ClassSelection as ClassSelection
