"""Objectives: from a batch to a cost per row, in nats. Costs of masks are (M, b), costs of the mask distribution (b,)."""

from .objective import (
    Likelihood as Likelihood,
    Objective as Objective,
    complement as complement,
    cross_entropy as cross_entropy,
    log_terms as log_terms,
    opposite as opposite,
)
from .penalties import (
    Continuity as Continuity,
    Irrelevant as Irrelevant,
    Sparsity as Sparsity,
    TargetRate as TargetRate,
    ToUniform as ToUniform,
    rate_of as rate_of,
)
from .prior import PriorExplainer as PriorExplainer
