"""Objectives: a trial to a cost for each row, in nats. Costs of masks are (M, b), costs of the distribution (b,)."""

from .adversary import complement, opposite
from .continuity import Continuity
from .irrelevant import Irrelevant
from .likelihood import Likelihood, cross_entropy, log_terms
from .prior import PriorExplainer, ToUniform
from .sparsity import Sparsity, TargetRate, rate_of

__all__ = [
    "Continuity",
    "Irrelevant",
    "Likelihood",
    "PriorExplainer",
    "Sparsity",
    "TargetRate",
    "ToUniform",
    "complement",
    "cross_entropy",
    "log_terms",
    "opposite",
    "rate_of",
]
