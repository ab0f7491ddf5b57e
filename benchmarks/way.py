"""How long is the way of a call through the library? Count the files and functions of ours that a fit and an audit enter.

    python benchmarks/way.py          # a table with limits; exit status 1 where a call enters more files
    python benchmarks/way.py --list   # the files too, in the order of entry

A file is entered when one of its functions runs; that its top level runs on import does not count. Comprehensions, lambdas and functions
inside a function belong to it. The command writes nothing.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pandas as pd

import lexplain as lx

SOURCE = str(Path(lx.__file__).parent)
LIMITS = {"fit": 48, "audit": 48}  # files
Way = dict[str, set[str]]  # the functions entered, by file, in the order of entry


def way_of(call: Callable[[], Any]) -> tuple[Way, Any]:
    """The files and functions that a call enters, in all threads that it starts, and what it returns."""
    entered: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            entered.setdefault(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    way: Way = {}
    for code in entered:
        if not (name := _function(code)):
            continue
        way.setdefault(str(Path(code.co_filename).relative_to(SOURCE)), set()).add(name)
    return way, result


def _function(code: CodeType) -> str:
    """The name of the outermost function that code belongs to; empty for the top level of a module or of a class."""
    qualified: str = getattr(code, "co_qualname", code.co_name)  # Python 3.10 counts inner functions too
    outermost = qualified.split(".<locals>")[0]
    return outermost if code.co_flags & inspect.CO_OPTIMIZED and "<" not in outermost else ""


def main() -> int:
    """Print the table. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the files in the order of entry, with the number of their functions")
    arguments = parser.parse_args()

    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(400, 5)), columns=list("abcde")).assign(f=random.choice(["x", "y", "z"], size=400))
    y = (X["a"] + X["b"] > 0).astype(int)
    warnings.simplefilter("ignore")
    make, judge = lx.Explainer, lx.audit  # loads their modules, whose decorators are no part of the way
    fit, explainer = way_of(lambda: make().fit(X, y))
    explanation = explainer.explain(X)
    audit, _ = way_of(lambda: judge(explanation, X, y))

    print(f"{'call':<8}{'files':>8}{'limit':>8}{'functions':>12}")
    for name, way in {"fit": fit, "audit": audit}.items():
        print(f"{name:<8}{len(way):>8}{LIMITS[name]:>8}{sum(map(len, way.values())):>12}")
        if arguments.list:
            print(*(f"  {len(names):>3}  {file}" for file, names in way.items()), sep="\n")
    return int(len(fit) > LIMITS["fit"] or len(audit) > LIMITS["audit"])


if __name__ == "__main__":
    sys.exit(main())
