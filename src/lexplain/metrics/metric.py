"""What a metric is: a function of one number per instance that knows how to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Metric:
    """A function that returns one number per instance, with what a table needs to show it."""

    function: Callable[..., Tensor]
    label: str  # a table's heading
    higher_is_better: bool | None  # None: neither direction is better
    description: str  # one line on how to read it
    percent: bool = False  # tables show it as a percentage

    def __post_init__(self) -> None:
        names = ("__name__", "__qualname__", "__module__", "__doc__")
        vars(self).update({name: getattr(self.function, name) for name in names}, __wrapped__=self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Call the function."""
        return self.function(*args, **kwargs)

    def __reduce__(self) -> str:
        return str(vars(self)["__qualname__"])  # a metric is pickled by its name, as a function is


def metric(
    *, label: str, higher_is_better: bool | None, description: str, percent: bool = False
) -> Callable[[Callable[..., Tensor]], Metric]:
    """Make a metric of the function below.

    Args:
        label: A table's heading.
        higher_is_better: None where neither direction is better, as for the number of features kept.
        description: One line on how to read the number.
        percent: Whether tables show it as a percentage; the function returns a share either way.

    Example:
        >>> @metric(label="Kept", higher_is_better=None, description="number of features shown")
        ... def kept(mask):
        ...     return mask.sum(-1)
        >>> kept.label
        'Kept'
    """

    def wrap(function: Callable[..., Tensor]) -> Metric:
        return Metric(function, label, higher_is_better, description, percent)

    return wrap
