"""Which features made a prediction, one instance at a time, in one forward pass, with proof that the answer is honest.

The flow, and the folders that show it:

    raw input -> features -> selector -> mask -> imputer -> predictor -> objective -> training -> explanation -> evaluation -> report

>>> import lexplain as lx
>>> data = lx.load_data("s3", seed=0)
>>> explainer = lx.Explainer("realx", keep=5)

Mask semantics, everywhere: 1 = visible.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .comparison import Comparison
    from .comparison.compare import compare
    from .core import Dataset, Explanation
    from .data import load_data
    from .evaluation import Card
    from .evaluation.adopt import adopt
    from .evaluation.audit import audit
    from .explainers import Explainer
    from .features import Columns, Groups
    from .methods import METHODS, Method
    from .training import RightReasons, find_another_explanation, right_reasons_loss

_HOME = {  # imported when first asked for, so that the command line answers at once
    "Card": "evaluation",
    "Columns": "features",
    "Comparison": "comparison",
    "Dataset": "core",
    "Explainer": "explainers",
    "Explanation": "core",
    "Groups": "features",
    "METHODS": "methods",
    "Method": "methods",
    "RightReasons": "training",
    "adopt": "evaluation",
    "audit": "evaluation",
    "compare": "comparison",
    "find_another_explanation": "training",
    "load_data": "data",
    "right_reasons_loss": "training",
}

__all__ = [
    "METHODS",
    "Card",
    "Columns",
    "Comparison",
    "Dataset",
    "Explainer",
    "Explanation",
    "Groups",
    "Method",
    "RightReasons",
    "adopt",
    "audit",
    "compare",
    "find_another_explanation",
    "load_data",
    "right_reasons_loss",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lexplain' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
