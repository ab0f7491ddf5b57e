"""Which features made a prediction, one instance at a time, in one forward pass, with proof that the answer is honest.

The flow, and the folders that show it:

    raw input -> features -> selector -> mask -> imputer -> predictor -> objective -> training -> explanation -> evaluation -> report

>>> import lexplain as lx
>>> data = lx.load_data("s3", seed=0)
>>> explainer = lx.Explainer("realx", keep=5)

Mask semantics, everywhere: 1 = visible.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .compare import Comparison, compare  # type: ignore[no-redef]  # the folder has the function's name
    from .core import Dataset, Explanation
    from .data import load_data
    from .evaluation import Card
    from .evaluation.adopt import adopt
    from .evaluation.audit import audit
    from .explainers import Explainer
    from .features import Columns, Groups
    from .methods import METHODS, Method

_HOME = {  # imported when first asked for, so that the command line answers at once
    "Card": "evaluation",
    "Columns": "features",
    "Comparison": "compare",
    "Dataset": "core",
    "Explainer": "explainers",
    "Explanation": "core",
    "Groups": "features",
    "METHODS": "methods",
    "Method": "methods",
    "adopt": "evaluation",
    "audit": "evaluation",
    "compare": "compare",
    "load_data": "data",
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
    "adopt",
    "audit",
    "compare",
    "load_data",
]


class _Package(ModuleType):
    """This package: a public name stays what it is when a folder of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):  # an import binds the folder in its parent, over the function
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lexplain' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
