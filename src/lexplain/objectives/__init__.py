"""Objectives: a trial to a cost for each row, in nats. Costs of masks are (M, b), costs of the distribution (b,)."""

from .adversary import complement as complement, opposite as opposite
from .continuity import Continuity as Continuity
from .irrelevant import Irrelevant as Irrelevant
from .likelihood import Likelihood as Likelihood, cross_entropy as cross_entropy, log_terms as log_terms
from .objective import Objective as Objective
from .prior import PriorExplainer as PriorExplainer, ToUniform as ToUniform
from .sparsity import Sparsity as Sparsity, TargetRate as TargetRate, rate_of as rate_of
