"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from .. import check


def known_sizes(keep: Any, labels: Collection[str]) -> None:
    """Refuse numbers of features for data sets that are not compared."""
    for label in keep if isinstance(keep, Mapping) else ():
        check.one_of(label, list(labels), "data set of this comparison")


def seeds_asked(seeds: Any) -> list[int]:
    """Return the seeds meant by a number of them, or by themselves; refuse none."""
    every = list(range(seeds)) if isinstance(seeds, (int, np.integer)) else [int(seed) for seed in seeds]
    if not every or len(set(every)) < len(every):
        raise ValueError(f"seeds={seeds!r}, but how many (at least 1), or different whole numbers, are needed")
    return every


def explainer_given(explainer: Any, kinds: tuple[type, ...]) -> Any:
    """Return an explainer to compare; refuse other things."""
    if not isinstance(explainer, kinds):
        needed = "a name, an Explainer or a baseline with its settings, such as Explainer('l2x', keep=5)"
        raise TypeError(f"{explainer!r} is a {type(explainer).__name__}, but {needed}, is needed")
    return explainer


def require_picklable(model: Any, workers: int) -> None:
    """Refuse to hand a model to other processes that cannot be handed over."""
    if workers > 1:
        try:
            pickle.dumps(model)
        except Exception as stays:  # what pickle raises depends on what it meets
            raise TypeError(f"the model cannot be sent to other processes ({stays}); use workers=1, or a function of a module") from stays
