"""A named method: a function that builds parts and returns a Method, with what it needs beside it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from torch import nn

from ..core import Outputs
from ..core.contracts import Features
from .method import Method
from .parts import Parts
from .sizes import Size

SizedBy = Literal["k", "price", "path"]
NO_OPTIONS = ("features", "outputs", "parts", "k", "size", "plan")  # arguments of a recipe that are no settings of its own
THIRD = 1 / 3


@dataclass(frozen=True)
class Recipe:
    """How to build a method, and what the rest of the library must know of it.

    Args:
        build: the function.
        sized_by: what says how much is kept: "k", a number of features; "price", what keeping features costs, or a rate to meet; "path",
            a path of prices of which a tolerance chooses one, unless a price or a number is given.
        size: how much it keeps where nobody says: of "k" the share of the features, of "price" the price.
        reads_output: the selector sees the model's output, so that there must be a model.
        imputer: what fills hidden values unless told, fitted to rows: "by kind" (`Kind.imputer`), a class, or None: what the function
            takes by itself.
        kinds: the kinds of features that it explains; None: any.
        prices_masks: masks can be priced while it learns (`Explainer(continuity=)`).
        scales_itself: with a thorough budget (`parts.thorough`) it grows instead of training longer.
        joint_options: options that say how a predictor learns beside the selector, and are refused where it does not.
    """

    build: Callable[..., Method]
    sized_by: SizedBy
    size: float | None = None
    reads_output: bool = False
    imputer: str | type[nn.Module] | None = None
    kinds: tuple[str, ...] | None = None
    supports_mask_costs: bool = True
    supports_thorough: bool = False
    joint_training_options: tuple[str, ...] = ()

    def __call__(
        self,
        features: Features,
        outputs: Outputs,
        parts: Parts = Parts(),
        *,
        keep: float | None = None,
        penalty: float | None = None,
        thorough: bool = False,
        **options: Any,
    ) -> Method:
        """Build the method of some features.

        Args:
            features: what can be on or off, fitted.
            outputs: what is predicted.
            parts: what the user brings.
            keep: how many features to keep, or a rate; None: the recipe's own.
            penalty: instead, the price of keeping every feature.
            thorough: grow, where the recipe can.
            options: settings of the recipe's own.
        """
        if self.kinds is not None and features.kind not in self.kinds:
            explained = ", ".join(self.kinds)
            raise ValueError(f"method {self.name!r} explains features of kind {explained}, not {features.kind}; choose another method")
        size = Size.of(keep, penalty, features.count)
        if thorough:
            parts = replace(parts, thorough=True)
        if self.sized_by == "k":
            if penalty is not None:
                raise ValueError(f"{self.name} keeps a fixed number of features and has no penalty; give keep instead")
            k = Size(rate=self.size).as_count(features.count) if size == Size() else size.as_count(features.count)
            return self.build(features, outputs, parts, k=k, **options)
        if self.sized_by == "price" and size == Size():
            size = Size(penalty=self.size)
        return self.build(features, outputs, parts, size=size, **options)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.build.__name__

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its own settings."""
        return tuple(name for name in inspect.signature(self.build).parameters if name not in NO_OPTIONS)

    @property
    def has_path(self) -> bool:
        """Whether keep="auto" can choose how much to keep."""
        return self.sized_by == "path"

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.build.__doc__)

    def __deepcopy__(self, memo: object) -> Recipe:  # it never changes, and a function within a function has no place to be found at
        return self

    def __reduce__(
        self,
    ) -> tuple[Callable[[str, str], object], tuple[str, str]]:  # pickled by the place of its function, whose name it has taken
        return _found, (self.build.__module__, self.build.__qualname__)


def _found(module: str, name: str) -> object:
    import importlib

    return getattr(importlib.import_module(module), name)


def recipe(
    *,
    sized_by: SizedBy,
    size: float | None = None,
    reads_output: bool = False,
    imputer: str | type[nn.Module] | None = None,
    kinds: tuple[str, ...] | None = None,
    supports_mask_costs: bool = True,
    supports_thorough: bool = False,
    joint_training_options: tuple[str, ...] = (),
) -> Callable[[Callable[..., Method]], Recipe]:
    """Make a recipe of the function below; see `Recipe`.

    The function takes (features, outputs, parts, *, k) where it is sized by k, else (features, outputs, parts, *, size), and settings of
    its own with their defaults.
    """
    return lambda build: Recipe(
        build, sized_by, size, reads_output, imputer, kinds, supports_mask_costs, supports_thorough, joint_training_options
    )
