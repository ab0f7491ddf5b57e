"""Data classes that all parts share, and `contracts`, the interfaces of the part families.

Mask semantics, everywhere: **1 (True) = visible**. Hard masks are bool tensors, soft masks are float tensors in [0, 1].
"""

from .batch import Batch as Batch, concat_batches as concat_batches
from .dataset import Dataset as Dataset, DataSplit as DataSplit
from .explanation import Explanation as Explanation
from .face import ExplainerFace as ExplainerFace, Explains as Explains
from .outputs import (
    Classes as Classes,
    Outputs as Outputs,
    RealValue as RealValue,
    as_target as as_target,
    outputs_of as outputs_of,
    reshape_batch as reshape_batch,
    rows_of as rows_of,
    target_values as target_values,
)
from .seeding import seeded as seeded
