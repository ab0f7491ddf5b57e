"""Audits: the verdict on an explanation, and the card with its measures.

The folder is not called `audit` because it would hide the function `lexplain.audit`.
"""

from ..measures import MEASURES as MEASURES, Measure as Measure
from .as_explanation import as_explanation as as_explanation
from .audit import audit as audit, make_card as make_card
from .callables import make_callables as make_callables
from .card import MARGIN as MARGIN, Card as Card, CardLine as CardLine, decide_verdict as decide_verdict
from .class_selection import ClassSelection as ClassSelection
from .verification import VerifyWarning as VerifyWarning
