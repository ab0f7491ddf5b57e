"""The menu of measures, in the order in which they are shown. Audits, comparisons and tables take them by key.

To add one: a `Measure` in a file here, and its place in that file's list. One of your own is passed as it is: `audit(measures=[mine])`.
"""

from __future__ import annotations

from ..measure import Measure
from .cost import COST
from .fidelity import FIDELITY
from .honesty import HONESTY
from .off_the_data import OFF_THE_DATA
from .prediction import PREDICTION
from .selection import SELECTION
from .stability import STABILITY
from .truth import TRUTH

MEASURES: dict[str, Measure] = {
    measure.key: measure for measure in (*PREDICTION, *HONESTY, *SELECTION, *TRUTH, *FIDELITY, *OFF_THE_DATA, *STABILITY, *COST)
}
COMPARED = (
    "acc",
    "eacc",
    "eauroc",
    "eauprc",
    "encoding",
    "kept",
    "tpr",
    "fdr",
    "cfsr",
    "median_rank",
)  # what a comparison takes unless told
