"""Where a name lies in the tree that answers, and constants that are made small while a case is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

EVALUATOR = ("lexplain.evaluation.evaluator", "lexplain.training.evaluator")
RETRAINED = ("lexplain.evaluation.retrained", "lexplain.training.retrained")
PATH = ("lexplain.explainers.path",)
# Lengths of trainings, and where each may lie under which name.
CONSTANTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "judge": (EVALUATOR, ("JUDGE_STEPS", "EVALUATOR_STEPS")),
    "reader": (EVALUATOR, ("READER_STEPS",)),
    "retraining": (RETRAINED, ("RETRAINING_STEPS",)),
    "path": (PATH, ("JUDGE_STEPS", "EVALUATOR_STEPS")),
    "draws": (PATH, ("DRAWS",)),
}
SHORT = {"judge": 40, "reader": 20, "retraining": 20, "path": 40, "draws": 2}


def first_of(*names: str) -> Any:
    """The first of some things ("module:name") that the imported lexplain has."""
    found = place_of(*names)
    return found[0] if found[1] is None else getattr(*found)


def place_of(*names: str) -> tuple[Any, str | None]:
    """What holds the first of some things that there is, and the thing's name in it; a module alone has none."""
    for name in names:
        module, _, path = name.partition(":")
        try:
            holder: Any = import_module(module)
        except ModuleNotFoundError as missing:
            if not str(missing.name).startswith("lexplain"):
                raise
            continue
        *parts, last = path.split(".") if path else [None]
        try:
            for part in parts:
                holder = getattr(holder, part)
        except AttributeError:
            continue
        if last is None or hasattr(holder, last):
            return holder, last
    raise LookupError(f"this lexplain has none of {', '.join(names)}; add where it lies now to the group that asks for it")


def shorten(**steps: int) -> list[tuple[Any, str, Any]]:
    """Make trainings short for good; returns what there was, as (holder, name, value)."""
    before = []
    for key, value in {**SHORT, **steps}.items():
        modules, names = CONSTANTS[key]
        holder, name = place_of(*(f"{module}:{name}" for module in modules for name in names))
        assert name is not None
        before.append((holder, name, getattr(holder, name)))
        setattr(holder, name, value)
    return before


@contextmanager
def short(**steps: int) -> Iterator[None]:
    """Let judges, readers, retrained networks and the judge of a path learn for a few steps only."""
    before = shorten(**steps)
    try:
        yield
    finally:
        for holder, name, value in before:
            setattr(holder, name, value)
