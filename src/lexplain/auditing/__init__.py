"""Auditing: is an explanation honest? Evidence, measures, the encoding test, and the card that joins them."""

from .as_explanation import adopt as adopt
from .audit import audit as audit
from .audit import card_of as card_of
from .card import Card as Card
from .card import Line as Line
from .encoding_test import MARGIN as MARGIN
from .encoding_test import encoding_values as encoding_values
from .encoding_test import judge as judge
