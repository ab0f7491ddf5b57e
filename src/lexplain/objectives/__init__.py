"""Objectives: a trial to a cost for each row, in nats. Costs of masks are (M, b), costs of the distribution (b,)."""

from .adversary import complement as complement
from .adversary import opposite as opposite
from .continuity import Continuity as Continuity
from .irrelevant import Irrelevant as Irrelevant
from .likelihood import Likelihood as Likelihood
from .likelihood import cross_entropy as cross_entropy
from .likelihood import log_terms as log_terms
from .prior import PriorExplainer as PriorExplainer
from .prior import ToUniform as ToUniform
from .sparsity import Sparsity as Sparsity
from .sparsity import TargetRate as TargetRate
from .sparsity import rate_of as rate_of
