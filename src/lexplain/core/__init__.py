"""The nouns that every part shares, and `contracts`: what each family of parts promises. Almost no behaviour.

Mask semantics, everywhere: **1 (True) = visible**. Hard masks are bool tensors, soft masks are float tensors in [0, 1].
"""

from collections.abc import Callable

from torch import Tensor

from .dataset import Dataset as Dataset
from .dataset import Part as Part
from .explanation import Explanation as Explanation
from .seeding import seeded as seeded
from .targets import as_target as as_target
from .targets import reshape_batch as reshape_batch
from .targets import rows_of as rows_of
from .targets import target_values as target_values
from .trial import Trial as Trial
from .trial import joined as joined

Cost = Callable[[Tensor], Tensor]  # masks (M, L, b, d) to costs (M, b)
