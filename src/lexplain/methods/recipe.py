"""Recipes: functions that build parts and return a Method, with their requirements."""

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
NO_OPTIONS = ("features", "outputs", "parts", "k", "size", "plan")  # arguments that are not options of a recipe
THIRD = 1 / 3


@dataclass(frozen=True)
class Recipe:
    """A function that builds a method, and what the rest of the library needs to know about it.

    Args:
        build: The function.
        sized_by: What sets how much is kept. "k": a number of features. "price": the cost of keeping features, or a rate to reach.
            "path": a tolerance chooses a price from a path, unless a price or a number is given.
        size: Default amount to keep: for "k" a share of the features, for "price" the penalty.
        reads_output: Whether the selector reads the model's output, so that a model is required.
        imputer: Default imputer, fitted to rows: "by kind" (`Kind.imputer`) or a class. None: the function makes its own.
        kinds: Kinds of features that it explains. None: any.
        supports_mask_costs: Whether masks can have a cost in training (`Explainer(continuity=)`).
        supports_thorough: Whether a thorough budget (`parts.thorough`) gives larger networks instead of longer training.
        joint_training_options: Options for training the predictor together with the selector. They raise if it is not trained so.
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
        """Build the method for some features.

        Args:
            features: Fitted features.
            outputs: Type of the predictions.
            parts: Networks, imputer and regime supplied by the user.
            keep: Number of features to keep, or a rate. None: the recipe's default.
            penalty: Instead of keep: cost in nats of keeping all features.
            thorough: Whether to build larger networks, if the recipe supports it.
            options: Options of the recipe, by name.
        """
        if self.kinds is not None and features.kind not in self.kinds:
            explained = ", ".join(self.kinds)
            raise ValueError(f"Method {self.name!r} explains features of kind {explained}, not {features.kind}. Choose another method.")
        size = Size.of(keep, penalty, features.count)
        if thorough:
            parts = replace(parts, thorough=True)
        if self.sized_by == "k":
            if penalty is not None:
                raise ValueError(f"{self.name} keeps a fixed number of features and has no penalty. Pass keep instead.")
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
        """The names of the recipe's options."""
        return tuple(name for name in inspect.signature(self.build).parameters if name not in NO_OPTIONS)

    @property
    def has_path(self) -> bool:
        """Whether keep="auto" can choose how much to keep."""
        return self.sized_by == "path"

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.build.__doc__)

    def __deepcopy__(self, memo: object) -> Recipe:  # it is immutable, and a nested function cannot be found by its name
        return self

    def __reduce__(
        self,
    ) -> tuple[Callable[[str, str], object], tuple[str, str]]:  # pickled by the name of its function, which it replaces in the module
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
    """Turn the decorated function into a recipe; see `Recipe`.

    The function takes (features, outputs, parts, *, k) if it is sized by k, otherwise (features, outputs, parts, *, size). Its options
    are keyword arguments with defaults.
    """
    return lambda build: Recipe(
        build, sized_by, size, reads_output, imputer, kinds, supports_mask_costs, supports_thorough, joint_training_options
    )
