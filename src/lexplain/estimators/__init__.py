"""Gradient estimators: (mask distribution, cost of a mask, baseline) to a scalar that trains the selector.

An estimator `needs` one method of the distribution, and does not know what the cost consists of. To add one, write a file with one class,
a line here, and a line in tests/estimators/test_estimators.py. Most inherit from `Sampled`.
"""

from .disarm import Disarm as Disarm
from .marginal_gains import MarginalGains as MarginalGains
from .pathwise import Pathwise as Pathwise
from .rebar import Rebar as Rebar
from .reinforce import Reinforce as Reinforce
from .straight_through import StraightThrough as StraightThrough
